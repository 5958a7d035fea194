// SHA-256 of a file, through OpenSSL. May use: std.
#pragma once

#include <string>

namespace ahead {

/// In hexadecimal. Throws Error(kIo) naming the path.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

}  // namespace ahead
