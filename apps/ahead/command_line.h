// The program's commands and what becomes of their errors. May use: include/ahead, CLI11.
#pragma once

namespace ahead::cli {

/// Runs the command that the arguments name; the answer is the program's exit code. Errors have
/// been reported.
[[nodiscard]] int run_command_line(int argc, const char* const* argv);

}  // namespace ahead::cli
