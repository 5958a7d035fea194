// See chat_command.h. May use: include/ahead, CLI11.
#include "chat_command.h"

#include "cache_folder.h"
#include "chat.h"
#include "run_options.h"

namespace ahead::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  ahead chat SmolLM2.gguf
  ahead chat SmolLM2.gguf --system "Be brief." --temperature 0.7
  ahead chat gemma.gguf --template gemma
  printf 'Hello\nAnd again\n' | ahead chat SmolLM2.gguf --json turns.json

In a terminal lines are edited and remembered; /help says what else can be typed. Elsewhere each line
of standard input is a message. Answers go to standard output, everything else to standard error.)";

}  // namespace

void add_chat_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("chat", "Talk with a model in the terminal");
  command->footer(kExamples);
  RunRequest usual;
  usual.pipeline.history = default_history();
  add_chat_options(*command, usual, chat_and_exit);
}

}  // namespace ahead::cli
