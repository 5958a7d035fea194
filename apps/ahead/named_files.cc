// See named_files.h. May use: include/ahead, base, POSIX.
#include "named_files.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "ahead/error.h"
#include "base/outlet.h"
#include "base/printable.h"
#include "base/replace_file.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;

// /dev/null, /dev/zero, /dev/full: numbers that stay wherever such a device is made.
bool keeps_nothing(const struct stat& info) {
  constexpr unsigned int kMemoryDevices = 1;
  return S_ISCHR(info.st_mode) && major(info.st_rdev) == kMemoryDevices;
}

std::optional<FileIdentity> identity_from(const struct stat& info) {
  if (keeps_nothing(info)) return std::nullopt;
  return FileIdentity{.device = info.st_dev, .inode = info.st_ino};
}

std::string words(const NamedFile& file) { return file.option + " " + path_in_quotes(file.path); }

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kInvalidArgument, what);
}

// What an exporter writes into a folder: others may have put their results there too.
bool is_of_model(const fs::path& path) {
  constexpr std::array<std::string_view, 6> kJson = {
      "config.json",           "generation_config.json",  "tokenizer.json",
      "tokenizer_config.json", "special_tokens_map.json", "vocab.json"};
  constexpr std::array<std::string_view, 5> kEndings = {".xml", ".bin", ".gguf", ".safetensors",
                                                        ".jinja"};
  return std::find(kJson.begin(), kJson.end(), path.filename().string()) != kJson.end() ||
         std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

// Whether writing there takes something away: of a terminal, a pipe or a socket nothing is read
// back.
bool keeps_what_is_written(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISBLK(info.st_mode);
}

// The descriptor that a path like /dev/fd/3 names.
std::optional<int> descriptor_in(const std::string& path) {
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = std::string_view(path).substr(folder.size());
    int fd = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
    if (error == std::errc() && end == digits.data() + digits.size() && fd >= 0) return fd;
  }
  return std::nullopt;
}

struct Known {
  NamedFile file;
  FileIdentity identity;
};

std::vector<Known> known(const std::vector<NamedFile>& files) {
  std::vector<Known> out;
  for (const NamedFile& file : files) {
    if (auto identity = identity_of(file.path)) out.push_back({file, *std::move(identity)});
  }
  return out;
}

const Known* find(const std::vector<Known>& files, const FileIdentity& identity) {
  for (const Known& one : files) {
    if (one.identity == identity) return &one;
  }
  return nullptr;
}

// A shell may have opened an input to append to it.
void check_stream(int fd, const char* name, const std::vector<Known>& files) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (const Known* const file = find(files, {.device = info.st_dev, .inode = info.st_ino})) {
    refuse(std::string(name) + " goes into " + words(file->file) +
           ", which would not stay what it is; send it elsewhere");
  }
}

}  // namespace

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return identity_from(info);
  if (path.empty()) return std::nullopt;
  fs::path folder = place_of(path);
  fs::path rest;
  do {
    rest = rest.empty() ? folder.filename() : folder.filename() / rest;
    folder = folder.has_relative_path() && folder.has_parent_path() ? folder.parent_path() : ".";
    if (::stat(folder.c_str(), &info) == 0) {
      return FileIdentity{
          .device = info.st_dev, .inode = info.st_ino, .rest = rest.lexically_normal().string()};
    }
  } while (folder != ".");
  return std::nullopt;
}

std::optional<FileIdentity> identity_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? identity_from(info) : std::nullopt;
}

void CommandFiles::read_model(const std::string& option, const std::string& path) {
  inputs.push_back({option, path});
  std::error_code failed;
  for (fs::directory_iterator entry(path, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (is_of_model(entry->path())) inputs.push_back({option, entry->path().string()});
  }
}

void CommandFiles::read(const std::string& option, const std::optional<std::string>& path) {
  if (path) inputs.push_back({option, *path});
}

void CommandFiles::write(const std::string& option, const std::optional<std::string>& path) {
  if (path) outputs.push_back({option, *path});
}

void check_files(const CommandFiles& files) {
  std::vector<Known> read = known(files.inputs);
  std::vector<Known> written;
  for (const std::vector<NamedFile>& list : {files.kept, files.outputs}) {
    for (Known& output : known(list)) {
      if (!keeps_what_is_written(output.file.path)) continue;
      if (const Known* const input = find(read, output.identity)) {
        refuse(words(output.file) + " is an input, " + words(input->file) +
               ", and would be written over; give another file");
      }
      if (const Known* const other = find(written, output.identity)) {
        refuse(words(other->file) + " and " + words(output.file) + " are one file; give two");
      }
      written.push_back(std::move(output));
    }
  }
  for (Known& kept : known(files.kept)) read.push_back(std::move(kept));
  check_stream(STDOUT_FILENO, "standard output", read);
  check_stream(STDERR_FILENO, "standard error", read);
}

Destination::Destination(NamedFile file) : file_(std::move(file)) {
  const auto identity = identity_of(file_.path);
  for (const int fd : {STDERR_FILENO, STDOUT_FILENO}) {
    if (identity && identity == identity_of(fd)) stream_ = fd;
  }
  // Who passes an open file reads that one, not another that took its name.
  if (!stream_) stream_ = descriptor_in(file_.path);
  if (!stream_) check_replaceable(file_.path);
}

std::optional<Destination> Destination::of(const std::string& option,
                                           const std::optional<std::string>& path) {
  return path ? std::optional(Destination({option, *path})) : std::nullopt;
}

void Destination::write(std::string_view contents, const Streams& streams) const {
  if (!stream_) {
    replace_file(file_.path, contents, streams.stop);
    return;
  }
  std::string error;
  if (*stream_ == STDOUT_FILENO) {
    streams.out.end_line();
    streams.out.write(contents);
    error = streams.out.error();
  } else if (*stream_ == STDERR_FILENO) {
    if (const int failed = streams.err.write(contents); failed != 0) {
      error = "cannot write to standard error: " + std::generic_category().message(failed);
    }
  } else if (const int failed = Outlet(*stream_, {.stop = streams.stop}).write(contents);
             failed != 0) {
    error = std::generic_category().message(failed);
  }
  if (!error.empty()) {
    throw Error(ErrorKind::kIo, words(file_) + " is lost: " + error + "; give a file elsewhere");
  }
}

}  // namespace ahead::cli
