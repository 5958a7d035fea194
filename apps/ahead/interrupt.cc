// See interrupt.h. May use: base, POSIX.
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
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "exit_code.h"

namespace ahead::cli {
namespace {

// Those that nobody sends again because it takes too long: they come by themselves.
bool comes_by_itself(int signal) {
  switch (signal) {
    case SIGHUP:
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
    case SIGPOLL:
    case SIGPWR:
    case SIGXCPU:
      return true;
    default:
      return false;
  }
}

// Signals whose default is to end the process, but for faults and for those that a write meets,
// which has its own error for them.
std::vector<int> ending_signals() {
  std::vector<int> signals = {SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,  SIGALRM,
                              SIGPROF, SIGVTALRM, SIGPOLL, SIGPWR,  SIGXCPU, SIGSTKFLT};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) signals.push_back(signal);
  return signals;
}

void end_at_once(int /*signal*/) { ::_exit(kExitInterrupted); }

bool nobody_heeds(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 &&
         (action.sa_handler == SIG_DFL || action.sa_handler == &end_at_once);
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : ending_signals()) {
    if (nobody_heeds(signal)) sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

// The thread that waits for signals: they are blocked everywhere and read from a descriptor.
struct InterruptWatch::Impl {
  explicit Impl(std::chrono::milliseconds same_moment);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  void watch();
  void heed(int signal);

  const std::chrono::milliseconds same_moment;
  std::stop_source source;
  SteadyClock clock;
  std::optional<TimePoint> first;  // of the watching thread
  sigset_t previous_mask{};
  int signals = -1;  // signalfd
  int wake = -1;     // eventfd: the watch ends
  std::thread thread;
};

InterruptWatch::Impl::Impl(std::chrono::milliseconds moment) : same_moment(moment) {
  const sigset_t set = watched_signals();
  signals = ::signalfd(-1, &set, SFD_CLOEXEC);
  wake = ::eventfd(0, EFD_CLOEXEC);
  pthread_sigmask(SIG_BLOCK, &set, &previous_mask);
  try {
    if (signals >= 0 && wake >= 0) thread = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Below: not watching is no reason to do nothing.
  }
  if (!thread.joinable()) pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
}

InterruptWatch::Impl::~Impl() {
  if (thread.joinable()) {
    const std::uint64_t one = 1;
    while (::write(wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread.join();
    pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
  }
  for (const int fd : {wake, signals}) {
    if (fd >= 0) ::close(fd);
  }
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
    if ((ready[0].revents & POLLIN) != 0 && ::read(signals, &info, sizeof info) == sizeof info) {
      heed(static_cast<int>(info.ssi_signo));
    }
  }
}

void InterruptWatch::Impl::heed(int signal) {
  const TimePoint now = clock.now();
  if (!first) {
    first = now;
    source.request_stop();
  } else if (now - *first >= same_moment && !comes_by_itself(signal)) {
    std::_Exit(kExitInterrupted);
  }
}

InterruptWatch::InterruptWatch(std::chrono::milliseconds same_moment)
    : impl_(std::make_unique<Impl>(same_moment)) {}

InterruptWatch::~InterruptWatch() = default;

std::stop_token InterruptWatch::token() const { return impl_->source.get_token(); }

void end_on_signals_as_first_process() {
  if (::getpid() != 1) return;
  for (const int signal : ending_signals()) {
    if (nobody_heeds(signal)) (void)std::signal(signal, &end_at_once);
  }
}

}  // namespace ahead::cli
