// What the program says on standard error. May use: base.
#pragma once

#include <string>
#include <string_view>

#include "base/outlet.h"

namespace ahead::cli {

/// "ahead: note: …", one line that a terminal only shows.
[[nodiscard]] std::string note_line(std::string_view text);
/// "ahead: error: …", likewise.
[[nodiscard]] std::string error_line(std::string_view text);

/// `text` as it is. What nobody reads is nobody's loss.
void report(Outlet& out, std::string_view text);
void report_note(Outlet& out, std::string_view text);
void report_error(Outlet& out, std::string_view text);

}  // namespace ahead::cli
