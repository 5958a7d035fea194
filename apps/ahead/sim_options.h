// The options of `ahead sim`: which seeds, and what to write. May use: include/ahead.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ahead/simulation.h"

namespace ahead::cli {

/// As typed; absent when the option was not given.
struct SimFlags {
  std::optional<std::string> seeds;
  std::optional<std::string> seed;
  std::optional<std::string> trace;
  bool events = false;
  bool quiet = false;
};

/// What was asked for.
struct SimRequest {
  std::uint64_t first = 1;
  std::uint64_t last = 1;  ///< included
  bool single = false;     ///< one seed, to be looked at
  bool events = false;
  bool quiet = false;
  std::optional<std::string> trace;
};

/// Throws Error(kInvalidArgument) that names the option and what it takes.
[[nodiscard]] SimRequest read_sim_options(const SimFlags& flags);

/// Where run_seeds() gets its verdicts and puts its words.
struct SimRun {
  std::function<SimulationVerdict(const SimulationOptions&)> simulate;
  std::function<void(const std::string&)> write;     ///< the result
  std::function<void(const std::string&)> progress;  ///< how far it is
};

/// Runs the seeds in order up to the first that fails; its verdict, or the last one's.
SimulationVerdict run_seeds(const SimRequest& request, const SimRun& run);

}  // namespace ahead::cli
