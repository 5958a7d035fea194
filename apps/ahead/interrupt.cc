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
#include <thread>

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

// The thread that waits for signals: they are blocked everywhere and read from a descriptor.
struct InterruptWatch::Impl {
  Impl();
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  void watch();

  std::stop_source source;
  sigset_t previous_mask{};
  int signals = -1;  // signalfd
  int wake = -1;     // eventfd: the watch ends
  std::thread thread;
};

InterruptWatch::Impl::Impl() {
  const sigset_t set = watched_signals();
  signals = opened(signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  wake = opened(eventfd(0, EFD_CLOEXEC), "eventfd");
  pthread_sigmask(SIG_BLOCK, &set, &previous_mask);
  thread = std::thread([this] { watch(); });
}

InterruptWatch::Impl::~Impl() {
  const std::uint64_t one = 1;
  while (::write(wake, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread.join();
  ::close(wake);
  ::close(signals);
  pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
}

void InterruptWatch::Impl::watch() {
  for (;;) {
    std::array<pollfd, 2> ready = {{{signals, POLLIN, 0}, {wake, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (ready[1].revents != 0) {
      return;
    }
    signalfd_siginfo info{};
    if ((ready[0].revents & POLLIN) != 0 && ::read(signals, &info, sizeof info) == sizeof info &&
        !source.request_stop()) {
      std::_Exit(kExitInterrupted);
    }
  }
}

InterruptWatch::InterruptWatch() : impl_(std::make_unique<Impl>()) {}

InterruptWatch::~InterruptWatch() = default;

std::stop_token InterruptWatch::token() const { return impl_->source.get_token(); }

}  // namespace ahead::cli
