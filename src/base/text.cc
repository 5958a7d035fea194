// The reason out of an exception's text. May use: std.
#include "base/text.h"

namespace ahead {

std::string reason_of(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::string reason;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(kBlank) - first + 1);
    reason = line;
  }
  return reason;
}

}  // namespace ahead
