// Ctrl-C and SIGTERM as a stop token. May use: std, POSIX.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace ahead::cli {

/// While it lives, the first SIGINT or SIGTERM requests a stop and the second ends the program at
/// once with exit code 130. A signal that was ignored when it was made (as under nohup) stays
/// ignored. To be made before other threads are, so that they inherit the blocked signals.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  void watch();

  std::stop_source source_;
  sigset_t previous_mask_{};
  int signals_ = -1;  // signalfd
  int wake_ = -1;     // eventfd: the watch ends
  std::jthread thread_;
};

}  // namespace ahead::cli
