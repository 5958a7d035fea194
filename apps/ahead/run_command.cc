// See run_command.h. May use: include/ahead, CLI11.
#include "run_command.h"

#include "cache_folder.h"
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

}  // namespace

void add_run_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("run", "Generate text");
  command->footer(kExamples);
  RunRequest usual;
  usual.pipeline.history = default_history();
  add_run_options(*command, usual, run_and_exit);
}

}  // namespace ahead::cli
