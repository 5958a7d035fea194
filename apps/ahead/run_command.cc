// The options of `ahead run`, and their help. See run_command.h.
// May use: include/ahead, CLI11.
#include "run_command.h"

#include <memory>
#include <string>

#include "axis_names.h"
#include "cache_folder.h"
#include "designs_command.h"
#include "run.h"
#include "run_options.h"

namespace ahead::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  ahead run SmolLM2.gguf "The sea is"
  ahead run SmolLM2.gguf "The sea is" --max-new-tokens 200 --temperature 0.8 --seed 7
  ahead run SmolLM2.gguf --prompt-file notes.txt --ladder 1024,2048 --json run.json
  ahead run SmolLM2.gguf --batch prompts.txt --max-new-tokens 100 --json batch.json
  ahead run SmolLM2.gguf --force book.txt --prompt-tokens 128 --ladder 256,512,1024 --verify
  ahead run SmolLM2.gguf "The sea is" --schedule on-demand --trace run.trace.json

Text goes to standard output as it is made, everything else to standard error.
Exit codes: 0 done, 1 failed while running, 2 wrong option or input, 3 --verify found a
difference, 130 interrupted.)";

// Options that stand together in the help.
class Group {
 public:
  Group(CLI::App& command, const char* title) : command_(command), title_(title) {}

  struct Words {
    const char* name;
    const char* value;
    std::string help;
  };
  template <typename Value>
  CLI::Option* option(Value& value, const Words& words) {
    return command_.add_option(words.name, value, words.help)
        ->type_name(words.value)
        ->group(title_);
  }
  void flag(bool& value, const char* name, const char* help) {
    command_.add_flag(name, value, help)->group(title_);
  }

 private:
  CLI::App& command_;
  const char* title_;
};

void add_input(CLI::App& command, RunFlags& flags) {
  command.add_option("MODEL", flags.model, "A GGUF file, or the folder of an OpenVINO IR")
      ->type_name("")
      ->required();
  command.add_option("PROMPT", flags.prompt, "The text to go on from")->type_name("");
  Group group(command, "Input");
  group.option(flags.prompt_file,
               {"--prompt-file", "FILE", "Take the prompt from a text file, but for the line end at its end"});
  group.option(flags.batch,
               {"--batch", "FILE", "Decode up to 8 prompts together, one a line of this file"});
  group.option(flags.force, {"--force", "FILE",
                             "Go along the tokens of this file whatever the model says: a text, "
                             "or token ids (*.ids, *.json)"});
  group.option(flags.prompt_tokens,
               {"--prompt-tokens", "N", "The first N tokens of the forced file are the prompt"});
}

void add_axes(CLI::App& command, RunFlags& flags) {
  Group group(command, "Ladder");
  group.option(flags.design,
               {"--design", "NAME",
                "Preset of the axes: " + design_names() + " (see ahead designs; default " +
                    std::string(default_design().name) + ")"});
  group.option(flags.ladder, {"--ladder", "LIST",
                              "Rungs in tokens (default doubling from 1024 to the model's context; "
                              "to 8192 where the axes pay for the top)"});
  group.option(flags.schedule, {"--schedule", "NAME", names(schedules()) + ", over the preset's"});
  group.option(flags.kv, {"--kv", "NAME", names(kv_policies()) + ", over the preset's"});
  group.option(flags.partition,
               {"--partition", "NAME", names(partitions()) + ", over the preset's"});
  group.option(flags.kv_type,
               {"--kv-type", "NAME",
                names(kv_types()) + ": what the cache stores (default f16 with partition attention "
                                    "where the device computes in f16, otherwise f32)"});
  group.option(flags.resident,
               {"--resident", "N",
                "Rungs whose programs stay in memory (default 2: the current one and the next)"});
  group.option(flags.chunk,
               {"--chunk", "N",
                "Prompt tokens read at once; planned: at most, unless --chunks (default 128)"});
  group.option(flags.chunks,
               {"--chunks", "LIST",
                "Schedule planned: sizes of chunks it may read a prompt in (default a quarter of "
                "--chunk, and --chunk)"});
  group.option(flags.first_chunk, {"--first-chunk", "N",
                                   "Schedule planned: begin the prompt in chunks of N tokens "
                                   "(default as it estimates)"});
}

void add_generation(CLI::App& command, RunFlags& flags) {
  Group group(command, "Generation");
  group.option(flags.max_new_tokens,
               {"--max-new-tokens", "N",
                "Tokens to generate at most (default: until an end token or a full last rung)"});
  group.option(flags.temperature, {"--temperature", "T", "Sample; 0 is greedy"});
  group.option(flags.top_k, {"--top-k", "K", "Sample from the K most likely tokens"});
  group.option(flags.top_p, {"--top-p", "P", "Sample from the likeliest tokens of mass P"});
  group.option(flags.repetition_penalty,
               {"--repetition-penalty", "X", "Above 1 makes tokens that were there less likely"});
  group.option(flags.seed, {"--seed", "N", "Seed of the sampling (default 0)"});
  group.option(flags.stop, {"--stop", "TEXT", "End at this text; may be given more than once"})
      ->allow_extra_args(false);
  group.flag(flags.ignore_eos, "--ignore-eos", "Go on past end tokens");
}

void add_machine(CLI::App& command, RunFlags& flags) {
  Group group(command, "Machine");
  group.option(flags.device, {"--device", "NAME", "OpenVINO device (default CPU)"});
  group.option(flags.device_cores, {"--device-cores", "LIST", "Cores of the device, like 0,1"});
  group.option(flags.compile_cores, {"--compile-cores", "LIST", "Cores of background compiles"});
  group.option(flags.history,
               {"--history", "FILE",
                "Schedule planned: where it keeps what compiles and steps took, or none (default "
                "ahead/history.json in the user's cache folder)"});
  Group hidden(command, "");
  hidden.option(flags.inject_compile_failure, {"--inject-compile-failure", "RUNG=MESSAGE", ""});
}

void add_results(CLI::App& command, RunFlags& flags) {
  Group group(command, "Results");
  group.flag(flags.verify, "--verify",
             "Run an eager control too and compare the logits around every boundary");
  group.flag(flags.explain, "--explain", "Tell every decision and its reason after the run");
  group.option(flags.json, {"--json", "FILE", "Write everything measured to this file"});
  group.option(flags.trace, {"--trace", "FILE",
                             "Write the timeline to this file, for Perfetto or chrome://tracing"});
  group.flag(flags.quiet, "-q,--quiet", "No progress and no summary");
}

}  // namespace

void add_run_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("run", "Generate text");
  command->footer(kExamples);
  const auto flags = std::make_shared<RunFlags>();
  add_input(*command, *flags);
  add_axes(*command, *flags);
  add_generation(*command, *flags);
  add_machine(*command, *flags);
  add_results(*command, *flags);
  command->callback([flags] {
    if (!flags->history) flags->history = default_history();
    run_and_exit(read_flags(*flags));
  });
}

}  // namespace ahead::cli
