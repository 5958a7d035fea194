// See run_options.h. May use: include/ahead, base, CLI11.
#include "run_options.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "ahead/error.h"
#include "axis_names.h"
#include "base/replace_file.h"
#include "designs_command.h"
#include "option_values.h"

namespace ahead::cli {
namespace {

constexpr std::int64_t kMostAtOnce = 1 << 20;
constexpr float kMostReal = std::numeric_limits<float>::max();
constexpr float kAboveZero = std::numeric_limits<float>::min();

Takes count() { return {number<std::int64_t>(1), "a whole number from 1"}; }

// "RUNG=MESSAGE".
std::optional<PipelineConfig::InjectedFailure> injected_failure(const std::string& typed) {
  const std::size_t equals = typed.find('=');
  std::string rung = typed.substr(0, equals);
  if (equals == std::string::npos || !number<std::int64_t>(0)(rung).empty()) return std::nullopt;
  return {{.rung = std::stoll(rung), .message = typed.substr(equals + 1)}};
}

void add_template(OptionGroup& group, PromptSource& prompt) {
  group.option(prompt.system, {"--system", "TEXT", "A system message in front of the prompt"});
  group.option(
      prompt.chat_template,
      {"--template", "NAME|FILE",
       "Chat template in place of the model's own: " + known_templates() + ", or a file of Jinja"});
  group.flag(prompt.parse_special, "--parse-special",
             "Control tokens spelled out in messages are these tokens; otherwise they are text");
}

void add_input(CLI::App& command, RunRequest& request) {
  PromptSource& prompt = request.prompt;
  OptionGroup words(command);
  words.flag(request.reading.unverified, "--unverified",
             "Run an architecture too of which no test shows that it is computed right");
  words.option(request.model, {"MODEL", "", "A GGUF file, or the folder of an OpenVINO IR"})
      ->required();
  words.option(prompt.text, {"PROMPT", "",
                             "What to answer, or with --raw and for models without a chat template "
                             "the text to go on from"});
  OptionGroup group(command, "Input");
  group.option(prompt.file, {"--prompt-file", "FILE",
                             "Take the prompt from a text file, but for the line end at its end"});
  group.option(prompt.batch_file,
               {"--batch", "FILE", "Decode up to 8 prompts together, one a line of this file"});
  group.option(prompt.messages_file, {"--messages", "FILE",
                                      "A conversation: a JSON list of messages with role and "
                                      "content"});
  add_template(group, prompt);
  group.flag(prompt.raw, "--raw",
             "Take the prompt as the text to go on from, not as a message, whatever the model's "
             "template");
  group.option(prompt.forced_file,
               {"--force", "FILE",
                "Go along the tokens of this file whatever the model says: a text, or token ids "
                "(*.ids, *.json)"});
  group.option(prompt.first_of_forced,
               {"--prompt-tokens", "N", "The first N tokens of the forced file are the prompt"},
               count());
}

void add_axes(CLI::App& command, RunRequest& request) {
  PipelineConfig& config = request.pipeline;
  const CLI::Validator tokens = number<std::int64_t>(1, kMostAtOnce);
  const Takes chunk{tokens, "a whole number of tokens from 1"};
  OptionGroup group(command, "Ladder");
  group.read(request.design,
             {"--design", "NAME",
              "Preset of the axes: " + design_names() + " (see ahead designs; default " +
                  std::string(default_design().name) + ")"},
             [](std::string_view name) { return &find_design(name); });
  group.read(request.ladder,
             {"--ladder", "LIST",
              "Rungs in tokens (default doubling from 1024 to the model's context; to 8192 where "
              "the axes pay for the top)"},
             parse_ladder);
  group.read(request.schedule, {"--schedule", "NAME", names(schedules()) + ", over the preset's"},
             parse_schedule);
  group.read(request.kv, {"--kv", "NAME", names(kv_policies()) + ", over the preset's"},
             parse_kv_policy);
  group.read(request.partition,
             {"--partition", "NAME", names(partitions()) + ", over the preset's"}, parse_partition);
  group.read(config.kv_type,
             {"--kv-type", "NAME",
              names(kv_types()) + ": what the cache stores (default f16 with partition attention "
                                  "where the device computes in f16, otherwise f32)"},
             parse_kv_type);
  group.option(config.resident_rungs,
               {"--resident", "N",
                "Rungs whose programs stay in memory (default 2: the current one and the next)"},
               {number<std::int64_t>(2, kMostAtOnce), "a whole number of rungs from 2"});
  group.option(config.prefill_chunk,
               {"--chunk", "N",
                "Prompt tokens read at once; planned: at most, unless --chunks (default 128)"},
               chunk);
  group.list(config.chunks,
             {"--chunks", "LIST",
              "Schedule planned: sizes of chunks it may read a prompt in (default a quarter of "
              "--chunk, and --chunk)"},
             tokens, "whole numbers of tokens from 1, like 32,128,512");
  group.option(config.first_chunk,
               {"--first-chunk", "N",
                "Schedule planned: begin the prompt in chunks of N tokens (default as it "
                "estimates)"},
               chunk);
}

void add_generation(CLI::App& command, GenerationConfig& config) {
  const CLI::Validator not_empty(
      [](std::string& text) { return std::string(text.empty() ? "empty" : ""); }, "");
  OptionGroup group(command, "Generation");
  group.option(config.max_new_tokens,
               {"--max-new-tokens", "N",
                "Tokens to generate at most (default: until an end token or a full last rung)"},
               count());
  group.option(config.temperature, {"--temperature", "T", "Sample; 0 is greedy"},
               {number(0.0F, kMostReal), "a number from 0, where 0 is greedy"});
  group.option(config.top_k, {"--top-k", "K", "Sample from the K most likely tokens"},
               {number<std::size_t>(0), "a whole number from 0, where 0 is no limit"});
  group.option(config.top_p, {"--top-p", "P", "Sample from the likeliest tokens of mass P"},
               {number(kAboveZero, 1.0F), "a number above 0 and up to 1"});
  group.option(config.repetition_penalty,
               {"--repetition-penalty", "X", "Above 1 makes tokens that were there less likely"},
               {number(kAboveZero, kMostReal), "a number above 0"});
  group.option(config.rng_seed, {"--seed", "N", "Seed of the sampling (default 0)"},
               {number<std::uint64_t>(0), "a whole number from 0"});
  group
      .option(config.stop_strings,
              {"--stop", "TEXT", "End at this text; may be given more than once"},
              {not_empty, "a text that is not empty"})
      ->allow_extra_args(false);
  group.flag(config.ignore_eos, "--ignore-eos", "Go on past end tokens");
}

void add_machine(CLI::App& command, RunRequest& request) {
  PipelineConfig& config = request.pipeline;
  const CLI::Validator core = number<int>(0);
  constexpr const char* kCores = "core numbers like 0,1";
  OptionGroup group(command, "Machine");
  group.option(request.device, {"--device", "NAME", "OpenVINO device (default CPU)"});
  group.list(config.device_cores, {"--device-cores", "LIST", "Cores of the device, like 0,1"}, core,
             kCores);
  group.list(config.compile_cores, {"--compile-cores", "LIST", "Cores of background compiles"},
             core, kCores);
  group.read(config.history,
             {"--history", "FILE",
              "Schedule planned: where it keeps what compiles and steps took, or none (default "
              "ahead/history.json in the user's cache folder)"},
             [](const std::string& file) {
               if (file.empty()) refuse_option("--history", file, "a file, or none");
               return file == "none" ? std::string() : file;
             });
  OptionGroup hidden(command, "");
  hidden.read(config.inject_compile_failure, {"--inject-compile-failure", "RUNG=MESSAGE", ""},
              injected_failure, "RUNG=MESSAGE");
}

void add_results(CLI::App& command, RunRequest& request) {
  OptionGroup group(command, "Results");
  group.flag(request.verify, "--verify",
             "Run an eager control too and compare the logits around every boundary");
  group.flag(request.explain, "--explain", "Tell every decision and its reason after the run");
  group.option(request.json, {"--json", "FILE", "Write everything measured to this file"});
  group.option(
      request.trace,
      {"--trace", "FILE", "Write the timeline to this file, for Perfetto or chrome://tracing"});
  group.flag(request.quiet, "-q,--quiet", "No progress and no summary");
}

// Those of the options that were given: "--top-k, --seed".
std::string given(const CLI::App& command, std::initializer_list<const char*> names) {
  std::string out;
  for (const char* const name : names) {
    if (command.count(name) > 0) out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out;
}

void settle_sampling(const CLI::App& command, GenerationConfig& config) {
  config.do_sample = !given(command, {"--temperature", "--top-k", "--top-p"}).empty();
  if (config.temperature == 0) {
    config.do_sample = false;
    config.temperature = GenerationConfig{}.temperature;
  }
}

// A core that is named twice is one thread.
void keep_first_of_each(std::vector<int>& cores) {
  auto end = cores.begin();
  for (const int core : cores) {
    if (std::find(cores.begin(), end, core) == end) *end++ = core;
  }
  cores.erase(end, cores.end());
}

// Options that were given and change nothing, with the reason.
std::vector<std::string> notes_on(const CLI::App& command, const RunRequest& request) {
  std::vector<std::string> notes;
  const auto note = [&](std::initializer_list<const char*> options, const std::string& why) {
    const std::string idle = given(command, options);
    if (!idle.empty()) notes.push_back(idle + " without effect: " + why);
  };
  if (request.prompt.forced_file) {
    note({"--temperature", "--top-k", "--top-p", "--repetition-penalty", "--seed"},
         "--force says which token comes next");
  } else if (!request.generation.do_sample) {
    note({"--top-k", "--top-p", "--seed"},
         command.count("--temperature") > 0
             ? "--temperature 0 takes the likeliest token"
             : "nothing is sampled; --temperature, --top-k or --top-p does");
  }
  const Schedule schedule = request.schedule.value_or(request.design->schedule);
  if (schedule != Schedule::kPlanned) {
    for (const char* const option : {"--chunks", "--first-chunk"}) {
      note({option},
           "schedule " + std::string(to_string(schedule)) + " reads prompts in chunks of --chunk");
    }
  }
  return notes;
}

// What depends on more than one option.
void settle(const CLI::App& command, RunRequest& request) {
  settle_sampling(command, request.generation);
  keep_first_of_each(request.pipeline.device_cores);
  keep_first_of_each(request.pipeline.compile_cores);
  request.notes = notes_on(command, request);
  check_source(request.prompt);
  if (request.verify && request.prompt.batch_file) {
    throw Error(ErrorKind::kInvalidArgument,
                "--verify compares one sequence with its control; give it one prompt, not --batch");
  }
}

}  // namespace

void add_run_options(CLI::App& command, const RunRequest& usual,
                     const std::function<void(const RunRequest&)>& run) {
  const auto request = std::make_shared<RunRequest>(usual);
  help_comes_first(command);
  add_input(command, *request);
  add_axes(command, *request);
  add_generation(command, request->generation);
  add_machine(command, *request);
  add_results(command, *request);
  command.callback([&command, request, run] {
    settle(command, *request);
    run(*request);
  });
}

void add_chat_options(CLI::App& command, const RunRequest& usual,
                      const std::function<void(const RunRequest&)>& chat) {
  const auto request = std::make_shared<RunRequest>(usual);
  help_comes_first(command);
  OptionGroup words(command);
  words.option(request->model, {"MODEL", "", "A GGUF file, or the folder of an OpenVINO IR"})
      ->required();
  words.flag(request->reading.unverified, "--unverified",
             "Run an architecture too of which no test shows that it is computed right");
  OptionGroup input(command, "Input");
  add_template(input, request->prompt);
  add_axes(command, *request);
  add_generation(command, request->generation);
  add_machine(command, *request);
  OptionGroup results(command, "Results");
  results.option(request->json, {"--json", "FILE", "Write every turn's measurements to this file"});
  results.flag(request->quiet, "-q,--quiet", "Nothing but the answers");
  command.callback([&command, request, chat] {
    settle_sampling(command, request->generation);
    keep_first_of_each(request->pipeline.device_cores);
    keep_first_of_each(request->pipeline.compile_cores);
    request->notes = notes_on(command, *request);
    if (request->json) check_replaceable(*request->json);
    chat(*request);
  });
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
