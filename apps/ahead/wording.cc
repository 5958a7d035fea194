// See wording.h. May use: std.
#include "wording.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace ahead::cli {

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) {
    return "-";
  }
  std::array<char, 400> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string seconds(double value) { return fixed(value, 3) + " s"; }

std::string bytes(std::int64_t value) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto scaled = static_cast<double>(value);
  std::size_t unit = 0;
  while (std::abs(scaled) >= 1024 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  return fixed(scaled, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string right(std::string_view text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + std::string(text);
}

std::string left(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace ahead::cli
