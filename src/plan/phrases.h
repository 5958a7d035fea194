// Numbers as the reasons of decisions show them: two or three digits, and a unit. May use: std.
#pragma once

#include <cstdint>
#include <string>

namespace ahead::plan {

/// "3.2 s", "0.4 s", "12 ms".
[[nodiscard]] std::string in_seconds(double seconds);

/// "340 MB".
[[nodiscard]] std::string in_megabytes(std::int64_t bytes);

/// "1 token", "1840 tokens".
[[nodiscard]] std::string in_tokens(double tokens);

/// "1 core", "1.5 cores".
[[nodiscard]] std::string in_cores(double cores);

}  // namespace ahead::plan
