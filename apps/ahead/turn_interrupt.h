// Ctrl-C in a conversation: it ends the answer under way, not the program. May use: std.
#pragma once

#include <memory>
#include <stop_token>

namespace ahead::cli {

/// While it lives, SIGINT requests a stop of the turn that is under way, if there is one. To be
/// made before other threads are, so that they inherit the blocked signal. Other signals do what
/// they do by default.
class TurnInterrupt {
 public:
  TurnInterrupt();
  ~TurnInterrupt();
  TurnInterrupt(const TurnInterrupt&) = delete;
  TurnInterrupt& operator=(const TurnInterrupt&) = delete;

  /// A turn begins; what its token hears ends with end_turn().
  [[nodiscard]] std::stop_token begin_turn();
  void end_turn();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ahead::cli
