// The process's own memory, as the kernel counts it. May use: std.
#pragma once

#include <cstdint>

namespace ahead {

/// The largest resident set so far.
[[nodiscard]] std::int64_t peak_rss_bytes();

}  // namespace ahead
