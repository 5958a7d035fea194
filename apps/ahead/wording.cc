// See wording.h. May use: std.
#include "wording.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace ahead::cli {

std::string in_quotes(std::string_view value) {
  constexpr std::size_t kLongest = 100;  // As in the library's errors; a test compares.
  std::string out = "'";
  for (const char c : value.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return out + (value.size() > kLongest ? "...'" : "'");
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != 0x7F) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') {
    out.pop_back();
  }
  return out;
}

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
