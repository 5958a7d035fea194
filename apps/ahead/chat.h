// `ahead chat`: a conversation, turn by turn, on one pipeline whose cache is kept.
// May use: include/ahead, base.
#pragma once

#include "run_options.h"

namespace ahead::cli {

/// Reads, answers and ends the program: exit code 0 at the end of the input, otherwise that of what
/// was thrown.
[[noreturn]] void chat_and_exit(const RunRequest& request);

}  // namespace ahead::cli
