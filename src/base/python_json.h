// JSON as Python's json module writes it, made plain. May use: std.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ahead {

/// `text` with an empty string, and blanks up to the same length, in place of each NaN, Infinity
/// and -Infinity outside of strings; and with blanks in place of a mark of byte order.
[[nodiscard]] std::string plain_json(std::string_view text);

/// "line 3, column 14" of the byte number `at`, from 0.
[[nodiscard]] std::string place_in(std::string_view text, std::size_t at);

}  // namespace ahead
