// How the command line writes values and units. May use: std.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ahead::cli {

/// "1.250" with `digits` after the point; "-" when it is not finite.
[[nodiscard]] std::string fixed(double value, int digits);

/// "1.250 s".
[[nodiscard]] std::string seconds(double value);

/// "45.0 MiB"; binary units, B to TiB.
[[nodiscard]] std::string bytes(std::int64_t value);

/// Blanks before, or behind, until it is `width` wide.
[[nodiscard]] std::string right(std::string_view text, std::size_t width);
[[nodiscard]] std::string left(std::string_view text, std::size_t width);

}  // namespace ahead::cli
