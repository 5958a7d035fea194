// `ahead run MODEL`: generates text and reports how. May use: include/ahead, CLI11.
#pragma once

#include <CLI/CLI.hpp>

namespace ahead::cli {

/// Adds the command. Running it ends the program, or throws ahead::Error for what is wrong before
/// generation begins.
void add_run_command(CLI::App& app);

}  // namespace ahead::cli
