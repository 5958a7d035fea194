// The runtime in a simulated world: from a seed a ladder, requests, costs and faults, in virtual
// time on the shipped scheduler, compile queue and cache. Nothing is compiled and nothing waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ahead/run_result.h"

namespace ahead {

/// What one seed came to.
struct SimulationVerdict {
  std::uint64_t seed = 0;
  bool passed = false;
  /// The rule that was broken first, when (virtual seconds since the world began), and how.
  std::string invariant;
  double at_s = 0;
  std::string detail;
  std::string scenario;             ///< in a line
  std::vector<std::string> events;  ///< all that happened, when asked for
  RunResult result;                 ///< of the last request; the timeline is that of all
};

struct SimulationOptions {
  std::uint64_t seed = 0;
  bool keep_events = false;
};

/// Runs one seed; the same seed is the same world everywhere. Should the runtime abort on a broken
/// invariant of its own, the seed is named on standard error first.
[[nodiscard]] SimulationVerdict simulate(const SimulationOptions& options);

/// A failed verdict in words: seed, rule, virtual time, and how to see it again.
[[nodiscard]] std::string to_string(const SimulationVerdict& verdict);

}  // namespace ahead
