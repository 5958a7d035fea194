// `ahead plan`: what a request will take under every schedule. May use: include/ahead, CLI11.
#pragma once

#include <CLI/CLI.hpp>

namespace ahead::cli {

/// Adds the command; running it writes to standard output and throws ahead::Error.
void add_plan_command(CLI::App& app);

}  // namespace ahead::cli
