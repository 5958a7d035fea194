// The options of `ahead sim`: which seeds, and what to write. May use: include/ahead, CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ahead/simulation.h"

namespace CLI {
class App;
}

namespace ahead::cli {

/// What was asked for.
struct SimRequest {
  std::uint64_t first = 1;
  std::uint64_t last = 1;  ///< included
  bool single = false;     ///< one seed, to be looked at
  bool events = false;
  bool quiet = false;
  std::optional<std::string> trace;
};

/// Adds the options. When they are parsed, `run` is called with what was asked for; parsing throws
/// Error(kInvalidArgument) that names the option and what it takes.
void add_sim_options(CLI::App& command, const std::function<void(const SimRequest&)>& run);

/// Where run_seeds() gets its verdicts and puts its words.
struct SimRun {
  std::function<SimulationVerdict(const SimulationOptions&)> simulate;
  std::function<void(const std::string&)> write;     ///< the result
  std::function<void(const std::string&)> progress;  ///< how far it is
};

/// Runs the seeds in order up to the first that fails; its verdict, or the last one's.
SimulationVerdict run_seeds(const SimRequest& request, const SimRun& run);

}  // namespace ahead::cli
