// Sentences from values. May use: std.
#pragma once

#include <sstream>
#include <string>

namespace ahead::sim {

template <typename... Parts>
[[nodiscard]] std::string words(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

}  // namespace ahead::sim
