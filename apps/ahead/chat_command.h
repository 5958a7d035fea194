// `ahead chat MODEL`: a conversation in the terminal. May use: include/ahead, CLI11.
#pragma once

#include <CLI/CLI.hpp>

namespace ahead::cli {

/// Adds the command. Running it ends the program.
void add_chat_command(CLI::App& app);

}  // namespace ahead::cli
