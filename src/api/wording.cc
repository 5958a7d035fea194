// See wording.h. May use: std.
#include "api/wording.h"

#include <cstddef>

namespace ahead::api {

std::string in_quotes(std::string_view value) {
  constexpr std::size_t kLongest = 100;  // As in apps/ahead/wording.cc; a test there compares.
  std::string out = "'";
  for (const char c : value.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  out += value.size() > kLongest ? "...'" : "'";
  return out;
}

std::string one_of(std::span<const std::string_view> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      out += i + 1 == names.size() ? " or " : ", ";
    }
    out += names[i];
  }
  return out;
}

}  // namespace ahead::api
