// One `ahead run`, from a checked request to the end of the program. May use: include/ahead.
#pragma once

#include "run_options.h"

namespace ahead::cli {

/// Generates, reports, and ends the program with the run's exit code, whatever goes wrong.
[[noreturn]] void run_and_exit(const RunRequest& request);

}  // namespace ahead::cli
