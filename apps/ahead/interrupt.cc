// See interrupt.h. May use: std, POSIX.
#include "interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "exit_code.h"

namespace ahead::cli {
namespace {

int opened(int fd, const char* what) {
  if (fd < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return fd;
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&set, signal);
    }
  }
  return set;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  const sigset_t set = watched_signals();
  signals_ = opened(signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  wake_ = opened(eventfd(0, EFD_CLOEXEC), "eventfd");
  pthread_sigmask(SIG_BLOCK, &set, &previous_mask_);
  thread_ = std::jthread([this] { watch(); });
}

InterruptWatch::~InterruptWatch() {
  const std::uint64_t one = 1;
  while (::write(wake_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::close(wake_);
  ::close(signals_);
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void InterruptWatch::watch() {
  for (;;) {
    std::array<pollfd, 2> ready = {{{signals_, POLLIN, 0}, {wake_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (ready[1].revents != 0) {
      return;
    }
    signalfd_siginfo info{};
    if ((ready[0].revents & POLLIN) != 0 && ::read(signals_, &info, sizeof info) == sizeof info &&
        !source_.request_stop()) {
      std::_Exit(kExitInterrupted);
    }
  }
}

}  // namespace ahead::cli
