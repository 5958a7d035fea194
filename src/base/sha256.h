// SHA-256 of a file, through OpenSSL. May use: std.
#pragma once

#include <string>

#include "base/input_file.h"

namespace ahead {

/// In hexadecimal, of the file as it was opened. Throws Error(kIo) naming it where it cannot be
/// read or was written to since.
[[nodiscard]] std::string sha256_of(const InputFile& file);

}  // namespace ahead
