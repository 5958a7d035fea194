// Telling what a request will take, without compiling or running anything: a profile of what things
// cost on a device, and the forecast of every schedule over it. Behind `ahead plan`.
//
// Seconds, bytes and tokens throughout.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/axes.h"
#include "ahead/run_result.h"

namespace ahead {

/// Where a cost comes from, most trusted first.
enum class CostSource {
  kGiven,         ///< by the caller
  kMeasured,      ///< on the machine the profile is of
  kPublished,     ///< by somebody else
  kInferred,      ///< from published or measured sums
  kEstimated,     ///< by a tool's own model, or by hand
  kInterpolated,  ///< between two rungs or chunks
  kExtrapolated,  ///< beyond the last
  kGuessed,       ///< from the model's size alone
};
[[nodiscard]] std::string_view to_string(CostSource source);

struct Cost {
  double seconds = 0;
  CostSource source = CostSource::kEstimated;
};
using RungCosts = std::map<std::int64_t, Cost>;  ///< by rung

/// What it costs to compile and run the programs of one step size, in one partition.
struct StepProfile {
  std::int64_t tokens = 1;  ///< of a step: 1 decodes, more is a chunk of a prompt
  std::int64_t calls = 1;   ///< of the device, a step
  Cost shared_compile;      ///< of what all rungs share
  RungCosts rung_compile;   ///< of what a rung has of its own
  RungCosts step;           ///< one step, calls apart
  RungCosts read_token;     ///< with `tokens` 1, a prompt's token; empty: as a step
};

struct PartitionProfile {
  Partition partition;
  /// What rungs share is compiled once for decoding and every chunk size.
  bool shared_serves_any_tokens = false;
  std::vector<StepProfile> steps;  ///< by tokens, the first decodes
};

/// What programs cost on a device, and the request that is meant when none is given.
struct Profile {
  std::string name;
  std::map<std::string, std::string> about;  ///< machine, model, version, date
  std::vector<std::string> notes;
  std::vector<std::int64_t> ladder;
  std::vector<std::int64_t> chunks;
  std::int64_t prompt = 128;
  std::int64_t tokens = 1;
  Cost call;                                ///< added for each call
  double step_factor = 1;                   ///< a step beside a compile takes so much longer
  double compile_factor = 1;                ///< a compile beside steps takes so much longer
  std::map<KvPolicy, RungCosts> migration;  ///< to that rung; nothing where there is no entry
  std::vector<PartitionProfile> partitions;
};

/// Reads the JSON of a profile. Throws Error(kInvalidArgument) that names the field.
[[nodiscard]] Profile read_profile(std::string_view json);

/// A profile of guesses by a model's size, for the CPU device.
[[nodiscard]] Profile guess_profile(const ModelFacts& facts, std::int64_t weight_bytes);

/// What to forecast; what is not given is the profile's.
struct PlanRequest {
  Profile profile;
  std::vector<std::int64_t> ladder;
  std::vector<std::int64_t> chunks;  ///< fixed schedules use the first, the planned one chooses
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> tokens;
  std::optional<Schedule> schedule;    ///< otherwise all
  std::optional<Partition> partition;  ///< otherwise all of the profile
  std::optional<KvPolicy> kv;          ///< otherwise that of a design, or of the default one
  /// Instead of the profile's, for every partition: a decode step, and the compile of a rung's
  /// decode program. Rung 0 stands for every rung.
  std::map<std::int64_t, double> token_s;
  std::map<std::int64_t, double> compile_s;
};

/// A rung of a forecast.
struct PlanRung {
  std::int64_t rung = 0;
  bool used = false;  ///< the request comes to it
  /// Time on the rung before that a compile can hide behind; none for the first.
  std::optional<double> window_s;
  std::int64_t window_tokens = 0;
  double compile_s = 0;           ///< of all programs compiled for it
  std::optional<double> slack_s;  ///< the window less the compile
  double wait_s = 0;              ///< the request stood still for it behind its first token
  double token_s = 0;             ///< a decode step on it
  std::int64_t tokens = 0;        ///< decoded on it
  CostSource source = CostSource::kGiven;  ///< of the least trusted of these numbers
};

struct PlanDecision {
  double at_s = 0;
  std::int64_t at_token = 0;
  std::string what;
  std::string reason;
};

/// One design's request as it will probably go.
struct PlanForecast {
  Axes axes;
  std::string design;             ///< the preset's name, or empty
  std::vector<Partition> faster;  ///< taken up behind axes.partition
  std::int64_t first_rung = 0;
  std::int64_t first_chunk = 0;  ///< prompt tokens at once, to begin with
  double foreground_compile_s = 0;
  double hidden_compile_s = 0;
  double prefill_s = 0;
  double decode_s = 0;
  double boundary_wait_s = 0;
  double migration_s = 0;
  double critical_path_s = 0;
  double first_token_s = 0;
  std::vector<PlanRung> rungs;
  std::vector<CompileRecord> compiles;
  std::vector<PlanDecision> decisions;
  std::vector<TraceEvent> trace;
};

struct PlanReport {
  std::string profile;
  std::vector<std::string> notes;
  std::vector<std::int64_t> ladder;
  std::int64_t prompt = 0;
  std::int64_t tokens = 0;
  std::vector<PlanForecast> forecasts;  ///< of the ladder asked for; at least one
  std::size_t shown = 0;                ///< the one to show in detail
  PlanForecast choice;                  ///< what it would do instead
  std::vector<std::int64_t> choice_chunks;
  std::string choice_reason;
};

/// Forecasts. Throws Error(kInvalidArgument) for a request that cannot be.
[[nodiscard]] PlanReport make_plan(const PlanRequest& request);

}  // namespace ahead
