// `ahead designs`: the presets and their axes. May use: include/ahead, CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ahead::cli {

/// Adds the command; running it writes to standard output.
void add_designs_command(CLI::App& app);

/// The table of presets, for people and for programs.
[[nodiscard]] std::string designs_text();
[[nodiscard]] std::string designs_json();

/// "b0, b1 or …": the names for help texts.
[[nodiscard]] std::string design_names();

}  // namespace ahead::cli
