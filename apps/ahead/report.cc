// See report.h. May use: base.
#include "report.h"

#include "base/printable.h"

namespace ahead::cli {

std::string note_line(std::string_view text) { return "ahead: note: " + printable(text) + "\n"; }

std::string error_line(std::string_view text) { return "ahead: error: " + printable(text) + "\n"; }

void report(Outlet& out, std::string_view text) { (void)out.write(text); }

void report_note(Outlet& out, std::string_view text) { report(out, note_line(text)); }

void report_error(Outlet& out, std::string_view text) { report(out, error_line(text)); }

}  // namespace ahead::cli
