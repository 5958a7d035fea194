// One seed, run: the scenario's requests on the real runtime, and the first rule they break.
// May use: include/ahead, and everything of this room.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "ahead/run_result.h"
#include "ahead/simulation.h"
#include "sim/event.h"
#include "sim/invariants.h"
#include "sim/scenario.h"

namespace ahead::sim {

struct Outcome {
  std::optional<Violation> violation;
  std::vector<Event> events;
  std::set<FaultKind> fired;
  std::size_t helped_parts = 0;  ///< parts that the helper compiled
  RunResult result;              ///< of the last request; the timeline is that of all
};

[[nodiscard]] Outcome run(const Scenario& scenario);

/// What came of it, as the public face says it; without the events.
[[nodiscard]] SimulationVerdict verdict_of(const Scenario& scenario, Outcome outcome);

}  // namespace ahead::sim
