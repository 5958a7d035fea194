// Test support: page faults, by the kernel's count. May use: base.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <limits>

namespace ahead::kv {

/// Below this many faults of a thread none were of the pages in question, but of its own. A
/// sanitizer's shadow takes faults too, as many as it likes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr long kFewFaults = std::numeric_limits<long>::max();
#else
inline constexpr long kFewFaults = 8;
#endif

/// Page faults that this thread takes in `act`.
template <typename Act>
[[nodiscard]] long faults_of(const Act& act) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  act();
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_minflt - before.ru_minflt;
}

/// Reads one byte of each page.
inline void read_pages(const std::byte* data, std::size_t bytes, std::size_t page) {
  for (std::size_t at = 0; at < bytes; at += page) {
    static_cast<void>(*static_cast<const volatile std::byte*>(data + at));
  }
}

}  // namespace ahead::kv
