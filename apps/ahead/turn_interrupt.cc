// A thread that waits for the signal. May use: std, the kernel.
#include "turn_interrupt.h"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>

namespace ahead::cli {

struct TurnInterrupt::Impl {
  std::mutex mutex;
  std::optional<std::stop_source> turn;  // guarded by mutex
  std::atomic<bool> ending = false;
  sigset_t waited{};
  sigset_t before{};
  std::thread thread;

  void listen() {
    while (true) {
      int signal = 0;
      if (sigwait(&waited, &signal) != 0) continue;
      if (ending) return;
      const std::lock_guard lock(mutex);
      if (turn) turn->request_stop();
    }
  }
};

TurnInterrupt::TurnInterrupt() : impl_(std::make_unique<Impl>()) {
  sigemptyset(&impl_->waited);
  sigaddset(&impl_->waited, SIGINT);
  pthread_sigmask(SIG_BLOCK, &impl_->waited, &impl_->before);
  impl_->thread = std::thread([impl = impl_.get()] { impl->listen(); });
}

TurnInterrupt::~TurnInterrupt() {
  impl_->ending = true;
  pthread_kill(impl_->thread.native_handle(), SIGINT);
  impl_->thread.join();
  pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr);
}

std::stop_token TurnInterrupt::begin_turn() {
  const std::lock_guard lock(impl_->mutex);
  impl_->turn.emplace();
  return impl_->turn->get_token();
}

void TurnInterrupt::end_turn() {
  const std::lock_guard lock(impl_->mutex);
  impl_->turn.reset();
}

}  // namespace ahead::cli
