// See input_file.h. May use: std, the kernel.
#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/resources.h"

namespace ahead {
namespace {

std::string words_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& path, const std::string& what,
                         const std::string& remedy) {
  throw Error(ErrorKind::kInvalidModel,
              "cannot open model " + path_in_quotes(path) + ": " + what + "; " + remedy);
}

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe, which can be read only once and in order";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

InputFile::Facts InputFile::facts_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .written_s = status.st_mtim.tv_sec,
          .written_ns = status.st_mtim.tv_nsec};
}

InputFile::InputFile(const std::string& path) : path_(path) {
  // Not blocking: opening a pipe would wait for a writer.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) {
    const int error = errno;
    const auto short_of = resource_remedy(std::system_error(error, std::generic_category()));
    if (short_of) refuse(path, words_of(error), *short_of);
    if (error == ENXIO) refuse(path, "it is no file", "give a file");
    refuse(path, error == ENOENT ? "no such file" : words_of(error),
           "give the path of a GGUF file or of an OpenVINO IR folder that may be read");
  }
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    refuse(path, known ? "it is no file but " + kind_of(status.st_mode) : "it is no file",
           "give the path of a GGUF file or of an OpenVINO IR folder");
  }
  facts_ = facts_of(status);
}

InputFile::~InputFile() { close(descriptor_); }

std::size_t InputFile::read(const Read& where, char* into) const {
  std::size_t done = 0;
  while (done < where.bytes) {
    const ssize_t got =
        pread(descriptor_, into + done, where.bytes - done, static_cast<off_t>(where.at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(ErrorKind::kIo, path_in_quotes(path_) + " cannot be read at byte " +
                                      std::to_string(where.at + done) + ": " + words_of(errno) +
                                      "; check the disk or the share that it is on");
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string InputFile::read(const Read& where) const {
  std::string bytes(where.bytes, '\0');
  bytes.resize(read(where, bytes.data()));
  return bytes;
}

bool InputFile::unchanged() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && facts_of(status) == facts_;
}

bool InputFile::is_at(const std::string& path) const {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && facts_.device == status.st_dev &&
         facts_.inode == status.st_ino;
}

}  // namespace ahead
