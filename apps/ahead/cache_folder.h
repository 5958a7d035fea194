// Where this user's caches go. May use: std.
#pragma once

#include <string>

namespace ahead::cli {

/// The default of --history: a file in the cache folder that the environment names, as of the XDG
/// Base Directory Specification; empty when it names none.
[[nodiscard]] std::string default_history();

}  // namespace ahead::cli
