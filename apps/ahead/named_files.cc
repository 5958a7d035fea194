// See named_files.h. May use: include/ahead, base, POSIX.
#include "named_files.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ahead/error.h"
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
    inputs.push_back({option, entry->path().string()});
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
  } else if (const int failed = streams.err.write(contents); failed != 0) {
    error = "cannot write to standard error: " + std::generic_category().message(failed);
  }
  if (!error.empty()) {
    throw Error(ErrorKind::kIo, words(file_) + " is lost: " + error + "; give a file elsewhere");
  }
}

}  // namespace ahead::cli
