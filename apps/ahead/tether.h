// Between work on a thread of its own and a caller who may stop waiting for it. May use: std.
#pragma once

#include <mutex>
#include <utility>

namespace ahead::cli {

/// What the work calls back goes through here; once the caller cut it, nothing does. Thread-safe.
class Tether {
 public:
  /// Makes `call` unless it is cut; whether it did.
  template <typename Call>
  bool through(Call&& call) {
    const std::lock_guard lock(mutex_);
    if (cut_) return false;
    std::forward<Call>(call)();
    return true;
  }

  /// From now on it cannot be cut: what the work made by now would be lost. Inside through().
  void hold() { held_ = true; }

  /// Whether nothing comes through any more.
  bool cut() {
    const std::lock_guard lock(mutex_);
    cut_ = cut_ || !held_;
    return cut_;
  }

 private:
  std::mutex mutex_;
  bool cut_ = false;   // guarded by mutex_
  bool held_ = false;  // guarded by mutex_
};

}  // namespace ahead::cli
