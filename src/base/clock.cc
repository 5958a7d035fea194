// The machine's monotonic clock. May use: std.
#include "base/clock.h"

namespace ahead {

TimePoint SteadyClock::now() const {
  return std::chrono::duration_cast<TimePoint>(std::chrono::steady_clock::now().time_since_epoch());
}

std::chrono::seconds seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace ahead
