// Ctrl-C and SIGTERM as a stop token. May use: std.
#pragma once

#include <memory>
#include <stop_token>

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

  [[nodiscard]] std::stop_token token() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ahead::cli
