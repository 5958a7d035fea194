// What a request will take, told without running it: the rules of the schedules and the planner,
// driven over costs that are given, from event to event. Pure. May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "plan/estimate.h"
#include "plan/schedule.h"

namespace ahead::plan {

/// What a program costs.
struct ProgramCosts {
  Estimate shared_compile;  ///< of the parts that all rungs share, if nobody has them yet
  Estimate rung_compile;    ///< of the others
  Estimate step;            ///< one decode step, or reading one chunk
  /// Of a program that decodes: reading one token of a prompt; 0: as a step.
  double read_token_s = 0;
};

/// A request, and what programs cost.
struct ForecastInput {
  std::vector<std::int64_t> ladder;
  std::int64_t prompt = 1;  ///< tokens, at most the last rung
  std::int64_t tokens = 1;  ///< to generate at most
  Schedule schedule = Schedule::kOneAhead;
  /// Prompt tokens at once. A fixed schedule uses the first, the planned one chooses.
  std::vector<std::int64_t> chunks = {128};
  /// Forms of the decoder by tier: 0 is ready soonest, a higher one steps faster. A fixed schedule
  /// uses the first. True: what its rungs share serves any number of tokens.
  std::vector<bool> shared_serves_any_tokens = {false};
  std::function<ProgramCosts(const Need&)> costs;
  std::function<double(std::int64_t rung)> migration_s;  ///< to that rung
  /// How much longer a step and a compile take beside one another than alone.
  double step_factor = 1;
  double compile_factor = 1;
};

/// One compile.
struct ForecastCompile {
  Need need;
  std::string reason;
  double begin_s = 0;  ///< since the request began
  double end_s = 0;
  double waited_s = 0;  ///< of it, by the request
};

/// A rung as the request comes to it.
struct ForecastRung {
  std::int64_t rung = 0;
  bool used = false;
  std::int64_t at_token = 0;  ///< live rows when it was needed first
  double begin_s = 0;         ///< when it was needed first
  /// Time on the rung before with the last program that was waited for there: what a successor's
  /// compile can hide behind. None for the first.
  std::optional<double> window_s;
  std::int64_t window_tokens = 0;  ///< read or decoded in the window
  double compile_s = 0;            ///< of the programs compiled for it, as they ran
  double wait_s =
      0;  ///< the request stood still for it, in its prompt or behind it; 0 for the first
  std::int64_t tokens = 0;  ///< decoded on it
  double decode_s = 0;
};

/// A decision, as it was taken.
struct ForecastDecision {
  double at_s = 0;
  std::int64_t at_token = 0;  ///< live rows
  std::string what;           ///< "start decode@2048", "wait for decode@2048"
  std::string reason;
};

/// Steps in a row, of the timeline.
struct ForecastSpan {
  Need need;
  double begin_s = 0;
  double end_s = 0;
  std::int64_t tokens = 0;
};

/// What the request takes. Sums as in RunResult.
struct Forecast {
  double foreground_compile_s = 0;
  double hidden_compile_s = 0;
  double prefill_s = 0;
  double decode_s = 0;
  double boundary_wait_s = 0;
  double migration_s = 0;
  double first_token_s = 0;
  std::int64_t first_rung = 0;  ///< it begins on
  std::int64_t first_chunk = 0;
  [[nodiscard]] double critical_path_s() const {
    return foreground_compile_s + prefill_s + decode_s + boundary_wait_s + migration_s;
  }
  std::vector<ForecastRung> rungs;  ///< of the whole ladder
  std::vector<ForecastCompile> compiles;
  std::vector<ForecastDecision> decisions;
  std::vector<ForecastSpan> spans;
};

/// Takes no longer for more tokens: it goes from event to event.
[[nodiscard]] Forecast forecast(const ForecastInput& input);

/// "decode@1024", "prefill@1024 tier 1", with the chunk where it matters.
[[nodiscard]] std::string name_of(const Need& need);

}  // namespace ahead::plan
