// What an axis may be, for help texts. May use: include/ahead.
#pragma once

#include <span>
#include <string>

#include "ahead/axes.h"

namespace ahead::cli {

/// "eager|one-ahead|on-demand".
template <typename Value>
[[nodiscard]] std::string names(std::span<const Value> values) {
  std::string out;
  for (const Value value : values) {
    out += (out.empty() ? "" : "|") + std::string(to_string(value));
  }
  return out;
}

}  // namespace ahead::cli
