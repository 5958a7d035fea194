// Time as Ahead sees it: monotonic seconds through one small interface, so that every schedule can
// be replayed by a test. May use: std.
#pragma once

#include <chrono>

namespace ahead {

/// A point in time: the duration since an epoch the clock chooses.
using TimePoint = std::chrono::nanoseconds;

/// Monotonic time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
};

/// Stands still until advanced. Not thread-safe: for hand-cranked, single-threaded tests.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  void advance(std::chrono::nanoseconds by) { now_ += by; }

 private:
  TimePoint now_{0};
};

/// What the machine takes for the time of day: since 1970, without leap seconds.
[[nodiscard]] std::chrono::seconds seconds_since_1970();

/// Seconds as a floating-point number, for results.
[[nodiscard]] inline double to_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace ahead
