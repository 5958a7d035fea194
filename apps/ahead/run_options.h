// The options of `ahead run`: from the words on the command line to typed wishes.
// May use: include/ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/generation_config.h"
#include "ahead/llm_pipeline.h"
#include "prompt.h"

namespace ahead::cli {

/// As typed; absent when the option was not given.
struct RunFlags {
  std::string model;
  std::string device = "CPU";
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_file;
  std::optional<std::string> force;
  std::optional<std::string> prompt_tokens;
  std::optional<std::string> batch;

  std::optional<std::string> design;
  std::optional<std::string> ladder;
  std::optional<std::string> schedule;
  std::optional<std::string> kv;
  std::optional<std::string> partition;
  std::optional<std::string> kv_type;
  std::optional<std::string> chunk;
  std::optional<std::string> chunks;
  std::optional<std::string> first_chunk;
  std::optional<std::string> history;
  std::optional<std::string> resident;
  std::optional<std::string> device_cores;
  std::optional<std::string> compile_cores;
  std::optional<std::string> inject_compile_failure;

  std::optional<std::string> max_new_tokens;
  std::optional<std::string> temperature;
  std::optional<std::string> top_k;
  std::optional<std::string> top_p;
  std::optional<std::string> repetition_penalty;
  std::optional<std::string> seed;
  std::vector<std::string> stop;
  bool ignore_eos = false;

  bool verify = false;
  bool explain = false;
  bool quiet = false;
  std::optional<std::string> json;
  std::optional<std::string> trace;
};

/// What was asked for, checked as far as it can be without the model.
struct RunRequest {
  std::string model;
  std::string device;
  PromptSource prompt;

  const Design* design = nullptr;
  std::optional<std::vector<std::int64_t>> ladder;
  std::optional<Schedule> schedule;
  std::optional<KvPolicy> kv;
  std::optional<Partition> partition;

  /// Without axes and design: these wait for the model.
  PipelineConfig pipeline;
  GenerationConfig generation;

  bool verify = false;
  bool explain = false;
  bool quiet = false;
  std::optional<std::string> json;
  std::optional<std::string> trace;

  /// Worth telling before the run: options that have no effect in it.
  std::vector<std::string> notes;
};

/// Throws Error(kInvalidArgument) naming the option, its value and what it takes.
[[nodiscard]] RunRequest read_flags(const RunFlags& flags);

/// The ladder to use, and a note where the default one ends below the model's context.
struct ChosenLadder {
  std::vector<std::int64_t> rungs;
  std::string note;
};

/// What the ladder is chosen by.
struct LadderWish {
  std::optional<std::vector<std::int64_t>> asked;
  LadderQuery otherwise;  ///< of the default one, with the model's trained context
};

/// `asked` as it is, or the default ladder. Throws Error(kInvalidArgument) when what was asked for
/// goes beyond the trained context.
[[nodiscard]] ChosenLadder choose_ladder(const LadderWish& wish);

/// What the default ladder of this run depends on.
[[nodiscard]] LadderQuery ladder_query(const RunRequest& request, std::int64_t trained_context);

/// The preset over `ladder` with the options that override it. `design` is empty when an override
/// left the preset.
struct ChosenAxes {
  Axes axes;
  std::string design;
};
[[nodiscard]] ChosenAxes choose_axes(const RunRequest& request,
                                     const std::vector<std::int64_t>& ladder);

}  // namespace ahead::cli
