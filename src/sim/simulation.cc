// The public face of the simulator. May use: include/ahead, and everything of this room.
#include "ahead/simulation.h"

#include <cstdio>
#include <utility>

#include "sim/abort_line.h"
#include "sim/run.h"

namespace ahead {

SimulationVerdict sim::verdict_of(const Scenario& scenario, Outcome outcome) {
  SimulationVerdict verdict{.seed = scenario.seed,
                            .passed = !outcome.violation,
                            .scenario = to_string(scenario),
                            .result = std::move(outcome.result)};
  if (outcome.violation) {
    verdict.invariant = outcome.violation->invariant;
    verdict.at_s = to_seconds(outcome.violation->at);
    verdict.detail = outcome.violation->detail;
  }
  return verdict;
}

SimulationVerdict simulate(const SimulationOptions& options) {
  const sim::AbortLine line(options.seed);
  const sim::Scenario scenario = sim::scenario_of(options.seed);
  sim::Outcome outcome = sim::run(scenario);
  const std::vector<sim::Event> events = std::move(outcome.events);
  SimulationVerdict verdict = sim::verdict_of(scenario, std::move(outcome));
  if (options.keep_events) {
    for (const sim::Event& event : events) verdict.events.push_back(to_string(event));
  }
  return verdict;
}

std::string to_string(const SimulationVerdict& verdict) {
  char time[32];
  std::snprintf(time, sizeof time, "%.6f", verdict.at_s);
  const std::string seed = std::to_string(verdict.seed);
  if (verdict.passed) return "seed " + seed + ": passed\n  world: " + verdict.scenario + "\n";
  return "seed " + seed + ": broken: " + verdict.invariant + " at " + time +
         " s: " + verdict.detail + "\n  world: " + verdict.scenario +
         "\n  again: ahead sim --seed " + seed + " --trace F\n";
}

}  // namespace ahead
