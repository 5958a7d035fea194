// Which cores threads run on: the whole contract with the operating system's scheduler.
// May use: std.
#pragma once

#include <vector>

namespace ahead {

/// Cores the calling thread may use, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// Restricts the calling thread to `cores`, which must not be empty. Throws Error(kInvalidArgument)
/// naming the cores that the thread cannot have, and changes nothing, when there is one.
void pin_current_thread(const std::vector<int>& cores);

/// Pins the calling thread for a scope and gives it back its cores afterwards.
class ScopedAffinity {
 public:
  explicit ScopedAffinity(const std::vector<int>& cores);
  ~ScopedAffinity();
  ScopedAffinity(const ScopedAffinity&) = delete;
  ScopedAffinity& operator=(const ScopedAffinity&) = delete;

 private:
  std::vector<int> previous_;
};

}  // namespace ahead
