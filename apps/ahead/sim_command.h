// `ahead sim`: the runtime in simulated worlds. May use: include/ahead, CLI11.
#pragma once

#include <CLI/CLI.hpp>

namespace ahead::cli {

/// Adds the command; running it ends the program with exit code 1 where a seed fails.
void add_sim_command(CLI::App& app);

}  // namespace ahead::cli
