// Broken invariants of Ahead itself: say so and stop. For what a caller or a file can cause, throw
// ahead::Error instead. May use: std.
#pragma once

namespace ahead {

/// Prints and aborts.
[[noreturn]] void check_failed(const char* condition, const char* message, const char* file,
                               int line);

}  // namespace ahead

#define AHEAD_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::ahead::check_failed(#condition, message, __FILE__, __LINE__))
