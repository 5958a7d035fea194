// Small text helpers for error messages. May use: std.
#pragma once

#include <string>
#include <string_view>

namespace ahead {

/// The last meaningful line of an exception's text: OpenVINO's begin with file names and checks and
/// end with the reason.
[[nodiscard]] std::string reason_of(std::string_view text);

}  // namespace ahead
