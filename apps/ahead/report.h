// What the program says on standard error. May use: std.
#pragma once

#include <string>
#include <string_view>

namespace ahead::cli {

/// `text` as it is.
void report(std::string_view text);
/// "ahead: note: …", one line.
void report_note(std::string_view text);
/// "ahead: error: …", one line.
void report_error(std::string_view text);

}  // namespace ahead::cli
