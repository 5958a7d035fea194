// See outlet.h. May use: std, the kernel.
#include "base/outlet.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/clock.h"

namespace ahead {
namespace {

constexpr std::size_t kMostOffered = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kSlice{20};  // between two looks at the stop

bool writable(int fd, std::chrono::milliseconds timeout) {
  pollfd ready{fd, POLLOUT, 0};
  return ::poll(&ready, 1, static_cast<int>(timeout.count())) > 0;
}

// The same pipe or terminal, opened anew so that it does not block: the flag on the descriptor that
// was given would be everybody's who shares it. -1 where that is not allowed.
int opened_anew(int fd) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return ::open(link.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

Outlet::Outlet(int fd, Options options) : options_(std::move(options)), fd_(fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return;
  socket_ = S_ISSOCK(info.st_mode);
  const bool terminal = ::isatty(fd) != 0;
  ready_ = S_ISREG(info.st_mode) || (S_ISCHR(info.st_mode) && !terminal);
  const int flags = ::fcntl(fd, F_GETFL);
  if ((terminal || S_ISFIFO(info.st_mode)) && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) {
    const int own = opened_anew(fd);
    owned_ = own >= 0;
    fd_ = owned_ ? own : fd;
  }
}

Outlet::~Outlet() {
  if (owned_) ::close(fd_);
}

int Outlet::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const std::string before = std::exchange(offered_, {});
  const int error = push(before);
  return error != 0 ? error : push(text);
}

void Outlet::offer(std::string_view text) {
  const std::lock_guard lock(mutex_);
  push_offered();
  if (offered_.size() + text.size() <= kMostOffered) offered_ += text;
  push_offered();
}

bool Outlet::idle() {
  const std::lock_guard lock(mutex_);
  push_offered();
  return offered_.empty();
}

void Outlet::push_offered() {
  while (!offered_.empty()) {
    const ssize_t written = write_now(offered_);
    if (written > 0) {
      offered_.erase(0, static_cast<std::size_t>(written));
    } else if (written == 0 || errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      offered_.clear();  // nobody will ever read it
    }
  }
}

// As much as goes without waiting; -1 and errno, EAGAIN where that is nothing.
ssize_t Outlet::write_now(std::string_view text) const {
  if (socket_) return ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (ready_ || owned_) return ::write(fd_, text.data(), text.size());
  // It may block. A pipe that is said to be writable takes this much at once.
  if (!writable(fd_, std::chrono::milliseconds(0))) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(fd_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
}

int Outlet::push(std::string_view text) {
  if (given_up_) return ECANCELED;
  bool claimed = false;  // it was said to be writable
  while (!text.empty()) {
    const ssize_t written = write_now(text);
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      claimed = false;
    } else if (written == 0 || errno == EAGAIN) {
      if (options_.stop.stop_requested() && waited_ >= options_.grace) {
        given_up_ = true;
        return ECANCELED;
      }
      claimed = wait(claimed);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// Until it is writable, or it is time to look at the stop; which of the two. One that is said to be
// writable and takes nothing is left alone for a while.
bool Outlet::wait(bool claimed) {
  const bool stopped = options_.stop.stop_requested();
  const SteadyClock clock;
  const TimePoint begin = clock.now();
  bool ready = false;
  if (claimed) {
    (void)::poll(nullptr, 0, static_cast<int>(kSlice.count()));
  } else {
    ready = writable(fd_, kSlice);
  }
  if (stopped) waited_ += clock.now() - begin;
  return ready;
}

}  // namespace ahead
