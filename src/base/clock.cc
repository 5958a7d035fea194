// The machine's monotonic clock. May use: std.
#include "base/clock.h"

namespace ahead {

TimePoint SteadyClock::now() const {
  return std::chrono::duration_cast<TimePoint>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ahead
