// See output.h. May use: include/ahead, POSIX.
#include "output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ahead/error.h"
#include "wording.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() { (void)close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  /// 0, or errno: a full disk may show only here.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_;
};

// The file behind symbolic links, so that a rename replaces it and not the link.
std::string place_of(const std::string& path) {
  std::error_code ignored;
  const fs::path resolved = fs::canonical(path, ignored);
  return resolved.empty() ? path : resolved.string();
}

bool written_directly(const std::string& place) {
  std::error_code ignored;
  const fs::file_status status = fs::status(place, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

std::string draft_of(const std::string& place) {
  return place + ".part" + std::to_string(::getpid());
}

[[noreturn]] void refuse(ErrorKind kind, const std::string& path, int error) {
  throw Error(kind, "cannot write " + in_quotes(path) + ": " + reason(error) +
                        "; give a file in a folder that exists and can be written");
}

}  // namespace

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool TextOutput::write(std::string_view text) {
  if (errno_ == 0 && !text.empty()) {
    errno_ = write_all(fd_, text);
    line_open_ = text.back() != '\n';
  }
  return errno_ == 0;
}

void TextOutput::end_line() {
  if (line_open_) {
    (void)write("\n");
  }
}

bool TextOutput::reader_gone() const { return errno_ == EPIPE || errno_ == EBADF; }

std::string TextOutput::error() const {
  return errno_ == 0 ? "" : "cannot write to standard output: " + reason(errno_);
}

void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) {  // The lowest free number is this one.
      (void)::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

void check_writable(const std::string& path) {
  const std::string place = place_of(path);
  std::error_code ignored;
  if (path.empty() || fs::is_directory(place, ignored)) {
    refuse(ErrorKind::kInvalidArgument, path, path.empty() ? ENOENT : EISDIR);
  }
  if (written_directly(place)) {
    if (::access(place.c_str(), W_OK) != 0) {
      refuse(ErrorKind::kInvalidArgument, path, errno);
    }
    return;
  }
  const std::string draft = draft_of(place);
  const File file(draft, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) {
    refuse(ErrorKind::kInvalidArgument, path, errno);
  }
  (void)::unlink(draft.c_str());
}

void write_file(const std::string& path, std::string_view contents) {
  const std::string place = place_of(path);
  const bool direct = written_directly(place);
  const std::string draft = direct ? place : draft_of(place);
  File file(draft, direct ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) {
    refuse(ErrorKind::kIo, path, errno);
  }
  int error = write_all(file.fd(), contents);
  if (const int closing = file.close(); error == 0) {
    error = closing;
  }
  if (!direct && error == 0 && ::rename(draft.c_str(), place.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    if (!direct) {
      (void)::unlink(draft.c_str());
    }
    refuse(ErrorKind::kIo, path, error);
  }
}

}  // namespace ahead::cli
