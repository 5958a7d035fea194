// See run_options.h. May use: include/ahead.
#include "run_options.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include "ahead/error.h"
#include "option_values.h"
#include "wording.h"

namespace ahead::cli {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct WholeRange {
  std::int64_t least = 0;
  std::int64_t most = kMost;
  std::string_view takes;
};

std::int64_t whole(std::string_view option, std::string_view text, const WholeRange& range) {
  const auto value = parsed<std::int64_t>(text);
  if (!value || *value < range.least || *value > range.most) {
    refuse_option(option, text, range.takes);
  }
  return *value;
}

float real(std::string_view option, std::string_view text, bool (*fits)(float),
           std::string_view takes) {
  const auto value = parsed<float>(text);
  if (!value || !std::isfinite(*value) || !fits(*value)) {
    refuse_option(option, text, takes);
  }
  return *value;
}

std::vector<int> cores(std::string_view option, std::string_view text) {
  std::vector<int> out;
  for (const std::string_view item : items(text)) {
    const auto core = parsed<int>(item);
    if (!core || *core < 0) {
      refuse_option(option, text, "core numbers like 0,1");
    }
    if (std::find(out.begin(), out.end(), *core) == out.end()) {  // Each is one thread.
      out.push_back(*core);
    }
  }
  return out;
}

constexpr WholeRange kChunk{
    .least = 1, .most = 1 << 20, .takes = "a whole number of tokens from 1"};

std::vector<std::int64_t> chunk_sizes(std::string_view option, std::string_view text) {
  std::vector<std::int64_t> out;
  for (const std::string_view item : items(text)) {
    const auto chunk = parsed<std::int64_t>(item);
    if (!chunk || *chunk < kChunk.least || *chunk > kChunk.most) {
      refuse_option(option, text, "whole numbers of tokens from 1, like 32,128,512");
    }
    out.push_back(*chunk);
  }
  return out;
}

PipelineConfig::InjectedFailure injected_failure(std::string_view text) {
  const std::size_t equals = text.find('=');
  const auto rung = parsed<std::int64_t>(text.substr(0, equals));
  if (equals == std::string_view::npos || !rung) {
    refuse_option("--inject-compile-failure", text, "RUNG=MESSAGE");
  }
  return {.rung = *rung, .message = std::string(text.substr(equals + 1))};
}

void read_sampling(const RunFlags& flags, GenerationConfig& config) {
  config.do_sample = flags.temperature || flags.top_k || flags.top_p;
  if (flags.temperature) {
    const float temperature = real(
        "--temperature", *flags.temperature, [](float v) { return v >= 0; },
        "a number from 0, where 0 is greedy");
    if (temperature > 0) {
      config.temperature = temperature;
    } else {
      config.do_sample = false;
    }
  }
  if (flags.top_k) {
    config.top_k = static_cast<std::size_t>(
        whole("--top-k", *flags.top_k, {.takes = "a whole number from 0, where 0 is no limit"}));
  }
  if (flags.top_p) {
    config.top_p = real(
        "--top-p", *flags.top_p, [](float v) { return v > 0 && v <= 1; },
        "a number above 0 and up to 1");
  }
  if (flags.repetition_penalty) {
    config.repetition_penalty = real(
        "--repetition-penalty", *flags.repetition_penalty, [](float v) { return v > 0; },
        "a number above 0");
  }
  if (flags.seed) {
    const auto seed = parsed<std::uint64_t>(*flags.seed);
    if (!seed) {
      refuse_option("--seed", *flags.seed, "a whole number from 0");
    }
    config.rng_seed = *seed;
  }
}

GenerationConfig read_generation(const RunFlags& flags) {
  GenerationConfig config;
  read_sampling(flags, config);
  if (flags.max_new_tokens) {
    config.max_new_tokens = whole("--max-new-tokens", *flags.max_new_tokens,
                                  {.least = 1, .takes = "a whole number from 1"});
  }
  config.ignore_eos = flags.ignore_eos;
  for (const std::string& stop : flags.stop) {
    if (stop.empty()) {
      refuse_option("--stop", stop, "a text that is not empty");
    }
  }
  config.stop_strings = flags.stop;
  return config;
}

PipelineConfig read_pipeline(const RunFlags& flags) {
  PipelineConfig config;
  if (flags.kv_type) {
    config.kv_type = parse_kv_type(*flags.kv_type);
  }
  if (flags.chunk) {
    config.prefill_chunk = whole("--chunk", *flags.chunk, kChunk);
  }
  if (flags.chunks) {
    config.chunks = chunk_sizes("--chunks", *flags.chunks);
  }
  if (flags.first_chunk) {
    config.first_chunk = whole("--first-chunk", *flags.first_chunk, kChunk);
  }
  if (flags.history && *flags.history != "none") {
    config.history = *flags.history;
  }
  if (flags.resident) {
    config.resident_rungs =
        whole("--resident", *flags.resident,
              {.least = 2, .most = 1 << 20, .takes = "a whole number of rungs from 2"});
  }
  if (flags.device_cores) {
    config.device_cores = cores("--device-cores", *flags.device_cores);
  }
  if (flags.compile_cores) {
    config.compile_cores = cores("--compile-cores", *flags.compile_cores);
  }
  if (flags.inject_compile_failure) {
    config.inject_compile_failure = injected_failure(*flags.inject_compile_failure);
  }
  return config;
}

// Options of sampling that were given and change nothing, with the reason.
std::vector<std::string> notes_on_sampling(const RunFlags& flags, bool do_sample) {
  struct Option {
    const char* name;
    bool given;
  };
  const auto note = [](std::initializer_list<Option> options, const char* why) {
    std::string names;
    for (const Option& option : options) {
      if (option.given) {
        names += (names.empty() ? "" : ", ") + std::string(option.name);
      }
    }
    return names.empty() ? std::vector<std::string>{}
                         : std::vector{names + " without effect: " + why};
  };
  const Option top_k{"--top-k", flags.top_k.has_value()};
  const Option top_p{"--top-p", flags.top_p.has_value()};
  const Option seed{"--seed", flags.seed.has_value()};
  if (flags.force) {
    return note({{"--temperature", flags.temperature.has_value()},
                 top_k,
                 top_p,
                 {"--repetition-penalty", flags.repetition_penalty.has_value()},
                 seed},
                "--force says which token comes next");
  }
  if (!do_sample) {
    return note({top_k, top_p, seed},
                flags.temperature ? "--temperature 0 takes the likeliest token"
                                  : "nothing is sampled; --temperature, --top-k or --top-p does");
  }
  return {};
}

// Options of schedule planned that were given with another one.
std::vector<std::string> notes_on_chunks(const RunFlags& flags, Schedule schedule) {
  if (schedule == Schedule::kPlanned) return {};
  std::vector<std::string> notes;
  for (const auto& [name, given] : {std::pair("--chunks", flags.chunks.has_value()),
                                    std::pair("--first-chunk", flags.first_chunk.has_value())}) {
    if (given) {
      notes.push_back(std::string(name) + " without effect: schedule " +
                      std::string(to_string(schedule)) + " reads prompts in chunks of --chunk");
    }
  }
  return notes;
}

}  // namespace

RunRequest read_flags(const RunFlags& flags) {
  RunRequest request;
  request.model = flags.model;
  request.device = flags.device;
  request.design = flags.design ? &find_design(*flags.design) : &default_design();
  if (flags.ladder) {
    request.ladder = parse_ladder(*flags.ladder);
  }
  if (flags.schedule) {
    request.schedule = parse_schedule(*flags.schedule);
  }
  if (flags.kv) {
    request.kv = parse_kv_policy(*flags.kv);
  }
  if (flags.partition) {
    request.partition = parse_partition(*flags.partition);
  }
  request.pipeline = read_pipeline(flags);
  request.generation = read_generation(flags);
  request.notes = notes_on_sampling(flags, request.generation.do_sample);
  for (std::string& note :
       notes_on_chunks(flags, request.schedule.value_or(request.design->schedule))) {
    request.notes.push_back(std::move(note));
  }

  request.prompt = {.text = flags.prompt,
                    .file = flags.prompt_file,
                    .batch_file = flags.batch,
                    .forced_file = flags.force};
  if (flags.prompt_tokens) {
    request.prompt.first_of_forced = whole("--prompt-tokens", *flags.prompt_tokens,
                                           {.least = 1, .takes = "a whole number from 1"});
  }
  check_source(request.prompt);

  if (flags.verify && flags.batch) {
    throw Error(ErrorKind::kInvalidArgument,
                "--verify compares one sequence with its control; give it one prompt, not --batch");
  }
  request.verify = flags.verify;
  request.explain = flags.explain;
  request.quiet = flags.quiet;
  request.json = flags.json;
  request.trace = flags.trace;
  return request;
}

ChosenLadder choose_ladder(const LadderWish& wish) {
  ChosenLadder chosen;
  if (wish.asked) {
    chosen.rungs = *wish.asked;
  } else {
    DefaultLadder usual = default_ladder(wish.otherwise);
    chosen = {.rungs = std::move(usual.rungs), .note = std::move(usual.note)};
  }
  check_ladder(chosen.rungs, wish.otherwise.trained_context);
  return chosen;
}

LadderQuery ladder_query(const RunRequest& request, std::int64_t trained_context) {
  return {.trained_context = trained_context,
          .schedule = request.schedule.value_or(request.design->schedule),
          .kv = request.kv.value_or(request.design->kv)};
}

ChosenAxes choose_axes(const RunRequest& request, const std::vector<std::int64_t>& ladder) {
  const Axes preset = axes_of(*request.design, ladder);
  ChosenAxes chosen{.axes = preset, .design = std::string(request.design->name)};
  chosen.axes.schedule = request.schedule.value_or(preset.schedule);
  chosen.axes.kv = request.kv.value_or(preset.kv);
  chosen.axes.partition = request.partition.value_or(preset.partition);
  if (chosen.axes.schedule != preset.schedule || chosen.axes.kv != preset.kv ||
      chosen.axes.partition != preset.partition) {
    chosen.design.clear();
  }
  return chosen;
}

}  // namespace ahead::cli
