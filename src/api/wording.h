// Words that error texts of this room share. May use: std.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ahead::api {

/// `value` in quotes, clipped when long, with control characters shown as '?': safe in one line.
[[nodiscard]] std::string in_quotes(std::string_view value);

/// "a, b or c".
[[nodiscard]] std::string one_of(std::span<const std::string_view> names);

}  // namespace ahead::api
