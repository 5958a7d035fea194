// The public face of the simulator. May use: include/ahead, and everything of this room.
#include "ahead/simulation.h"

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "sim/run.h"

namespace ahead {
namespace {

/// What a signal handler may read: the line to write, ready made.
char abort_line[160];
std::size_t abort_length = 0;

extern "C" void say_seed(int /*signal*/) {
  (void)!write(STDERR_FILENO, abort_line, abort_length);
  // The default action follows: abort() ends the program when the handler returns.
}

/// Names the seed if the runtime aborts, while it lives.
class AbortLine {
 public:
  explicit AbortLine(std::uint64_t seed) {
    const auto number = static_cast<unsigned long long>(seed);
    const int length = std::snprintf(
        abort_line, sizeof abort_line,
        "seed %llu: broken: abort: the runtime's own check\n  again: ahead sim --seed %llu\n",
        number, number);
    abort_length = static_cast<std::size_t>(std::max(length, 0));
    before_ = std::signal(SIGABRT, say_seed);
  }
  ~AbortLine() { std::signal(SIGABRT, before_); }
  AbortLine(const AbortLine&) = delete;
  AbortLine& operator=(const AbortLine&) = delete;

 private:
  void (*before_)(int) = nullptr;
};

}  // namespace

SimulationVerdict simulate(const SimulationOptions& options) {
  const AbortLine line(options.seed);
  const sim::Scenario scenario = sim::scenario_of(options.seed);
  sim::Outcome outcome = sim::run(scenario);
  SimulationVerdict verdict{.seed = options.seed,
                            .passed = !outcome.violation,
                            .scenario = sim::to_string(scenario),
                            .result = std::move(outcome.result)};
  if (outcome.violation) {
    verdict.invariant = outcome.violation->invariant;
    verdict.at_s = to_seconds(outcome.violation->at);
    verdict.detail = outcome.violation->detail;
  }
  if (options.keep_events) {
    for (const sim::Event& event : outcome.events) verdict.events.push_back(to_string(event));
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
