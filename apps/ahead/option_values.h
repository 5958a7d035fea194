// Values of options, read from their words. May use: include/ahead, base.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::cli {

/// Throws Error(kInvalidArgument): "--ladder is 'x'; it takes ...".
[[noreturn]] inline void refuse_option(std::string_view option, std::string_view value,
                                       std::string_view takes) {
  throw Error(ErrorKind::kInvalidArgument,
              std::string(option) + " is " + in_quotes(value) + "; it takes " + std::string(takes));
}

/// The number that the whole of `text` is.
template <typename Number>
[[nodiscard]] std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// What stands between the commas; of an empty text one item, which is empty.
[[nodiscard]] inline std::vector<std::string_view> items(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return out;
}

}  // namespace ahead::cli
