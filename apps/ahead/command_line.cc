// See command_line.h. May use: include/ahead, base, CLI11.
#include "command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "base/outlet.h"
#include "base/printable.h"
#include "chat_command.h"
#include "designs_command.h"
#include "exit_code.h"
#include "failure.h"
#include "inspect_command.h"
#include "interrupt.h"
#include "lab_command.h"
#include "output.h"
#include "plan_command.h"
#include "report.h"
#include "run_command.h"
#include "sim_command.h"

namespace ahead::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  ahead run SmolLM2.gguf "The sea is" --max-new-tokens 100
  ahead run SmolLM2.gguf --prompt-file notes.txt --ladder 1024,2048,4096 --json run.json
  ahead chat SmolLM2.gguf
  ahead inspect SmolLM2.gguf
  ahead plan --profile profiles/npu5010-compiler.json
  ahead designs
  ahead sim --seeds 1..2000
  ahead lab run campaigns/quick.toml

ahead COMMAND --help says more.)";

// The command whose help would answer, as typed.
std::string help_command(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    return "ahead " + command->get_name() + " --help";
  }
  return "ahead --help";
}

// Where a prompt may stand, the word may have been one.
std::string unexpected(const std::string& word, bool takes_prompt) {
  const bool dash = word.front() == '-';
  const char* const hint = !takes_prompt ? ""
                           : dash ? "; a prompt that begins with a dash goes behind -- or into a "
                                    "--prompt-file"
                                  : "; a prompt of several words goes in quotes";
  return (dash ? "unknown option " : "unexpected argument ") + in_quotes(word) + hint;
}

// CLI11 reports a missing command before it names the word it did not know.
void check_command(const CLI::App& app, std::span<const char* const> arguments) {
  const std::string word = arguments.empty() ? "" : arguments.front();
  if (word.empty() || word == "-h" || word == "--help" || word == "--version") {
    return;
  }
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) {
      return;
    }
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw Error(ErrorKind::kInvalidArgument,
              (word.front() == '-' ? "unknown option " : "unknown command ") + in_quotes(word) +
                  "; the commands are " + names);
}

int parse(CLI::App& app, Outlet& err, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return kExitOk;
  } catch (const CLI::CallForHelp&) {
    write_text(app.help());
    return kExitOk;
  } catch (const CLI::CallForVersion&) {
    write_text("ahead " + std::string(version()) + "\n");
    return kExitOk;
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> words = app.remaining(true);
    const std::string what = words.empty() || words.front().empty()
                                 ? error.what()
                                 : unexpected(words.front(), app.got_subcommand("run"));
    report_error(err, what + "; see " + help_command(app));
    return kExitUsage;
  } catch (const CLI::ParseError& error) {
    report_error(err, std::string(error.what()) + "; see " + help_command(app));
    return kExitUsage;
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  fill_standard_descriptors();
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // EPIPE, EFBIG
  end_on_signals_as_first_process();
  report_what_nobody_catches();
  Outlet err(STDERR_FILENO);
  try {
    CLI::App app(
        "Runs LLM generation on a ladder of compiled contexts: compile ahead, not up front.",
        "ahead");
    app.set_version_flag("--version", std::string(version()), "Print the version and exit");
    app.require_subcommand(1);
    add_run_command(app);
    add_chat_command(app);
    add_inspect_command(app);
    add_plan_command(app);
    add_designs_command(app);
    add_sim_command(app);
    add_lab_command(app);
    app.footer(kExamples);  // After the commands, which would inherit it.
    check_command(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
    return parse(app, err, argc, argv);
  } catch (const std::exception&) {
    return tell_failure(err, std::current_exception());
  }
}

}  // namespace ahead::cli
