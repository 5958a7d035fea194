// What the program says of what was thrown, and the exit code it ends with.
// May use: include/ahead, base.
#pragma once

#include <exception>
#include <string>

#include "base/outlet.h"
#include "exit_code.h"

namespace ahead::cli {

/// One line; with what to do where memory, threads or files ran out.
[[nodiscard]] std::string failure_text(const std::exception& error);

/// Tells what was thrown; the exit code.
[[nodiscard]] ExitCode tell_failure(Outlet& err, const std::exception_ptr& thrown);

/// From now on what no thread catches, where threads or memory ran out, ends the program with an
/// error and its exit code rather than as a crash.
void report_what_nobody_catches();

}  // namespace ahead::cli
