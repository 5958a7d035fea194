// Ctrl-C, and every other signal that would end the program, as a stop token. May use: std.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

namespace ahead::cli {

/// While it lives, the first signal that ends a process by default (a hang-up, SIGTERM, SIGUSR1, a
/// limit on CPU time, ...; not a fault of the program's own) requests a stop, and a second one ends
/// the program at once with exit code 130. A signal that is ignored when it is made (as under
/// nohup), or heeded by somebody else, stays so. To be made before other threads are, so that they
/// inherit the blocked signals. Where there is no thread to be had for it, signals do what they do
/// by default.
class InterruptWatch {
 public:
  /// Until then a second signal is the first one again: a terminal that goes away, and programs
  /// such as timeout, send several at once.
  explicit InterruptWatch(std::chrono::milliseconds same_moment = std::chrono::milliseconds(300));
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] std::stop_token token() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Process 1 of a container is sent no signal that it does not handle: from now on those that would
/// end another process end this one too, with exit code 130, unless a watch lives.
void end_on_signals_as_first_process();

}  // namespace ahead::cli
