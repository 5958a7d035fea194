// Words that error texts of this room share. May use: std.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ahead::api {

/// "a, b or c".
[[nodiscard]] std::string one_of(std::span<const std::string_view> names);

}  // namespace ahead::api
