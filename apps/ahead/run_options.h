// The options of `ahead run`: from the words on the command line to typed wishes.
// May use: include/ahead, CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/generation_config.h"
#include "ahead/llm_pipeline.h"
#include "prompt.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's name
class App;
}

namespace ahead::cli {

/// What was asked for, checked as far as it can be without the model.
struct RunRequest {
  std::string model;
  ModelOptions reading;
  std::string device = "CPU";
  PromptSource prompt;

  const Design* design = &default_design();
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

/// Adds the options. When they are parsed, `run` is called with what was asked for, `usual` where
/// nothing was; parsing throws Error(kInvalidArgument) that names the option, its value and what it
/// takes.
void add_run_options(CLI::App& command, const RunRequest& usual,
                     const std::function<void(const RunRequest&)>& run);

/// Likewise the options of `ahead chat`, which takes no prompt and fewer of the others.
void add_chat_options(CLI::App& command, const RunRequest& usual,
                      const std::function<void(const RunRequest&)>& chat);

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
