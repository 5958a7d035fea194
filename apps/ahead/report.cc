// See report.h. May use: std, POSIX.
#include "report.h"

#include <unistd.h>

#include "output.h"
#include "wording.h"

namespace ahead::cli {

void report(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

void report_note(std::string_view text) { report("ahead: note: " + one_line(text) + "\n"); }

void report_error(std::string_view text) { report("ahead: error: " + one_line(text) + "\n"); }

}  // namespace ahead::cli
