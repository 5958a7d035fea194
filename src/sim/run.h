// One seed, run: the scenario's requests on the real runtime, and the first rule they break.
// May use: include/ahead, and everything of this room.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ahead/run_result.h"
#include "sim/event.h"
#include "sim/invariants.h"
#include "sim/scenario.h"

namespace ahead::sim {

struct Outcome {
  std::optional<Violation> violation;
  std::vector<Event> events;
  std::set<FaultKind> fired;
  RunResult result;  ///< of the last request; the timeline is that of all
};

[[nodiscard]] Outcome run(const Scenario& scenario);

}  // namespace ahead::sim
