// Which cores threads run on: the whole contract with the operating system's scheduler.
// May use: std.
#pragma once

#include <vector>

namespace ahead {

/// Cores the calling thread may use, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// What it means when the kernel does not give a thread the cores it should run on.
enum class Pinning {
  kRequired,   ///< an error: somebody named these cores
  kPreferred,  ///< the thread runs where it may: they were chosen to save time, no more
};

/// Restricts the calling thread to `cores`, which must not be empty. When it cannot have all of
/// them nothing is changed: throws Error(kInvalidArgument) naming them and the kernel's reason, or
/// returns false where they were only preferred.
bool pin_current_thread(const std::vector<int>& cores, Pinning pinning = Pinning::kRequired);

/// Pins the calling thread for a scope and gives it back its cores afterwards.
class ScopedAffinity {
 public:
  explicit ScopedAffinity(const std::vector<int>& cores, Pinning pinning = Pinning::kRequired);
  ~ScopedAffinity();
  ScopedAffinity(const ScopedAffinity&) = delete;
  ScopedAffinity& operator=(const ScopedAffinity&) = delete;

  [[nodiscard]] bool pinned() const { return pinned_; }

 private:
  std::vector<int> previous_;
  bool pinned_ = false;
};

}  // namespace ahead
