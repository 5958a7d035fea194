// `ahead lab`: campaigns of runs, and reports of them. May use: include/ahead, CLI11.
#pragma once

#include <CLI/CLI.hpp>

namespace ahead::cli {

/// Adds the command, with `run` and `report` below it.
void add_lab_command(CLI::App& app);

}  // namespace ahead::cli
