// See replace_file.h. May use: std, the kernel.
#include "base/replace_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

#include "ahead/error.h"
#include "base/outlet.h"
#include "base/printable.h"

namespace ahead {
namespace {

const char* remedy_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; make room there, or give a file elsewhere";
    case EFBIG:
      return "; allow larger files (ulimit -f), or give a file elsewhere";
    case ECANCELED:
      return "; nobody read it";
    default:
      return "; give a file in a folder that exists and can be written";
  }
}

[[noreturn]] void refuse(ErrorKind kind, const std::string& path, int error) {
  const std::string reason = error == ECANCELED ? std::string("it was interrupted")
                                                : std::generic_category().message(error);
  throw Error(kind, "cannot write " + path_in_quotes(path) + ": " + reason + remedy_of(error));
}

// 0 when all went well, otherwise errno.
using Errno = int;

class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File() { (void)close(); }

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  // A full disk may show only here.
  Errno close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int fd_;
};

std::string folder_of(const std::string& place) {
  const std::size_t slash = place.rfind('/');
  return slash == std::string::npos ? "" : place.substr(0, slash + 1);
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// What a path leads to.
struct Target {
  std::string path;  // as it was given
  std::string
      place;        // behind links; as it was given where that is another file, as of a descriptor
  Errno error = 0;  // why nothing can be known of it
  bool there = false;
  bool moved = false;  // what it leads to has no name any more
  struct stat info {};

  explicit Target(const std::string& given) : path(given), place(place_of(given)) {
    if (path.empty()) {
      error = ENOENT;
    } else if (::stat(path.c_str(), &info) == 0) {
      there = true;
      struct stat behind {};
      moved = ::stat(place.c_str(), &behind) != 0 || !same_file(info, behind);
      if (moved) place = path;
      error = S_ISDIR(info.st_mode) ? EISDIR : S_ISBLK(info.st_mode) ? EPERM : 0;
    } else if (errno != ENOENT) {
      error = errno;
    }
  }

  [[nodiscard]] bool is_regular() const { return S_ISREG(info.st_mode); }
  [[nodiscard]] bool is_pipe() const { return S_ISFIFO(info.st_mode); }
};

// A new file beside the place. A name that is taken may be left from a process of the same number.
class Draft {
 public:
  explicit Draft(const std::string& place) {
    constexpr int kNames = 100;
    for (int i = 0; i < kNames; ++i) {
      name_ = folder_of(place) + ".ahead-" + std::to_string(::getpid()) + "-" + std::to_string(i) +
              ".part";
      file_ = File(::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      error_ = file_.is_open() ? 0 : errno;
      if (error_ != EEXIST) break;
    }
    there_ = file_.is_open();
  }
  ~Draft() {
    if (there_) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  [[nodiscard]] Errno error() const { return error_; }

  // Whether it can stand for that file: its owner and its permissions.
  [[nodiscard]] bool takes_after(const struct stat& other) const {
    struct stat mine {};
    if (::fstat(file_.fd(), &mine) != 0) return false;
    if (mine.st_uid != other.st_uid || mine.st_gid != other.st_gid) {
      if (::fchown(file_.fd(), other.st_uid, other.st_gid) != 0) return false;
    }
    constexpr mode_t kPermissions = 07777;
    return (mine.st_mode & kPermissions) == (other.st_mode & kPermissions) ||
           ::fchmod(file_.fd(), other.st_mode & kPermissions) == 0;
  }

  [[nodiscard]] Errno write(std::string_view contents) {
    const Errno error = Outlet(file_.fd()).write(contents);
    const Errno closing = file_.close();
    return error != 0 ? error : closing;
  }

  [[nodiscard]] Errno rename_to(const std::string& place) {
    if (::rename(name_.c_str(), place.c_str()) != 0) return errno;
    there_ = false;
    return 0;
  }

 private:
  std::string name_;
  File file_;
  Errno error_ = 0;
  bool there_ = false;
};

// Whether what stands in the way of a draft, or of its rename, does not stand in the way of writing
// the file itself.
bool may_be_in_place(Errno error) {
  switch (error) {
    case EACCES:  // the folder cannot be written to
    case EPERM:   // it is sticky, and the file another's
    case EROFS:
    case EBUSY:  // the file is a mount
    case EXDEV:
      return true;
    default:
      return false;
  }
}

// What there is no room for is told before what the file holds is gone; not every disk can tell.
Errno room_for(const File& file, off_t size) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && static_cast<rlim_t>(size) > limit.rlim_cur) {
    return EFBIG;
  }
  if (size == 0 || ::fallocate(file.fd(), FALLOC_FL_KEEP_SIZE, 0, size) == 0) return 0;
  return errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? errno : 0;
}

Errno write_in_place(const Target& target, std::string_view contents) {
  File file(::open(target.place.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) return errno;
  const auto size = static_cast<off_t>(contents.size());
  if (const Errno error = room_for(file, size); error != 0) return error;
  Errno error = Outlet(file.fd()).write(contents);
  if (error == 0 && ::ftruncate(file.fd(), size) != 0) error = errno;
  const Errno closing = file.close();
  return error != 0 ? error : closing;
}

// A file that may not be written to is not replaced by another either.
Errno permission(const Target& target) {
  return ::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

Errno write_beside(const Target& target, std::string_view contents) {
  if (target.there) {
    if (const Errno error = permission(target); error != 0) return error;
  }
  if (target.there && (target.moved || target.info.st_nlink > 1)) {
    return write_in_place(target, contents);
  }
  Errno error = 0;
  {
    Draft draft(target.place);
    error = draft.error();
    if (error == 0 && target.there && !draft.takes_after(target.info)) error = EPERM;
    if (error == 0) {
      error = draft.write(contents);
      if (error != 0) return error;
      error = draft.rename_to(target.place);
    }
  }
  if (error != 0 && target.there && may_be_in_place(error)) return write_in_place(target, contents);
  return error;
}

// Opens what is no regular file, so that it does not block. A pipe has to wait for its reader.
File opened_directly(const Target& target, const std::stop_token& stop) {
  constexpr int kSlice_ms = 20;
  constexpr int kLooksAfterStop = 10;
  for (int looks = 0; looks < kLooksAfterStop;) {
    File file(::open(target.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file.is_open() || errno != ENXIO || !target.is_pipe()) return file;
    looks += stop.stop_requested() ? 1 : 0;
    (void)::poll(nullptr, 0, kSlice_ms);
  }
  errno = ECANCELED;
  return File();
}

Errno write_directly(const Target& target, std::string_view contents, std::stop_token stop) {
  File file = opened_directly(target, stop);
  if (!file.is_open()) return errno;
  const Errno error = Outlet(file.fd(), {.stop = std::move(stop)}).write(contents);
  const Errno closing = file.close();
  return error != 0 ? error : closing;
}

}  // namespace

std::string place_of(const std::string& path) {
  std::string place = path;
  for (int links = 0; links < 40; ++links) {  // as many as the kernel follows
    std::array<char, PATH_MAX> buffer{};
    const ssize_t length = ::readlink(place.c_str(), buffer.data(), buffer.size());
    if (length <= 0) break;
    const std::string target(buffer.data(), static_cast<std::size_t>(length));
    place = target.front() == '/' ? target : folder_of(place) + target;
  }
  return place;
}

void check_replaceable(const std::string& path) {
  const Target target(path);
  Errno error = target.error;
  if (error == 0 && target.there) {
    if (target.is_regular()) {
      error =
          File(::open(target.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)).is_open() ? 0 : errno;
    } else if (S_ISSOCK(target.info.st_mode)) {
      error = ENXIO;
    } else {
      error = permission(target);
    }
  } else if (error == 0) {
    error = Draft(target.place).error();
  }
  if (error != 0) refuse(ErrorKind::kInvalidArgument, path, error);
}

void replace_file(const std::string& path, std::string_view contents, std::stop_token stop) {
  const Target target(path);
  Errno error = target.error;
  if (error == 0) {
    error = target.there && !target.is_regular() ? write_directly(target, contents, std::move(stop))
                                                 : write_beside(target, contents);
  }
  if (error != 0) refuse(ErrorKind::kIo, path, error);
}

}  // namespace ahead
