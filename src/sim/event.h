// What happens in a simulated world, as values that can be compared. May use: base.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace ahead::sim {

enum class EventKind {
  kRequest,       ///< begins: its number
  kEnd,           ///< of the request: tokens generated
  kPosted,        ///< a compile: its number, tokens, rung
  kCompileBegin,  ///< likewise
  kCompileEnd,    ///< likewise
  kFreed,         ///< the compile thread freed what was released
  kWaitBegin,
  kWaitEnd,
  kCall,      ///< of the device: artifact, its rung
  kChoose,    ///< sequence, position, rung
  kToken,     ///< sequence, token
  kProgress,  ///< kind, rung, tokens
  kAllocate,  ///< bytes
  kRelease,   ///< bytes
  kStop,      ///< the request was told to stop
  kFault,     ///< kind
};
[[nodiscard]] std::string_view to_string(EventKind kind);

struct Event {
  TimePoint at{0};
  EventKind kind = EventKind::kRequest;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

/// "12.000345 ms  call 3 64 0".
[[nodiscard]] std::string to_string(const Event& event);

}  // namespace ahead::sim
