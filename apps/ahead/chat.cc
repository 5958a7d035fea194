// See chat.h. May use: include/ahead, base.
#include "chat.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "base/outlet.h"
#include "base/printable.h"
#include "base/replace_file.h"
#include "chat_state.h"
#include "exit_code.h"
#include "failure.h"
#include "line_reader.h"
#include "output.h"
#include "prompt.h"
#include "report.h"
#include "turn_interrupt.h"
#include "wording.h"

namespace ahead::cli {
namespace {

constexpr const char* kHelp =
    "/system TEXT  another system message     /reset  forget the conversation\n"
    "/undo  take the last question back       /drop   forget the oldest question and its answer\n"
    "/save FILE    /load FILE                 /stats  where the context stands\n"
    "/think dim|hide|plain                    /help\n"
    "A line that ends in \\ goes on in the next. Ctrl-C ends an answer, Ctrl-D the chat.\n";

class Chat {
 public:
  Chat(const RunRequest& request, TurnInterrupt& interrupt, Outlet& err)
      : request_(request),
        interrupt_(interrupt),
        err_(err),
        text_(STDOUT_FILENO),
        terminal_(::isatty(STDOUT_FILENO) == 1),
        show_(terminal_ ? Thoughts::Show::kDimmed : Thoughts::Show::kPlain),
        state_(request.prompt.system.value_or(std::string())) {}

  void go();

 private:
  void open();
  void obey(const ChatLine& line);
  void answer(const std::string& question);
  [[nodiscard]] bool fits(std::size_t tokens);
  void tell_turn(const RunResult& result);
  void write_json() const;
  void tell(const std::string& text) { report(err_, text + "\n"); }
  void note(const std::string& text) { report_note(err_, text); }

  const RunRequest& request_;
  TurnInterrupt& interrupt_;
  Outlet& err_;
  TextOutput text_;
  const bool terminal_;
  Thoughts::Show show_;
  ChatState state_;
  std::string own_template_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<LLMPipeline> pipeline_;
  std::int64_t last_rung_ = 0;
  std::int64_t used_ = 0;           ///< tokens of context that the last turn came to
  std::vector<std::string> turns_;  ///< as JSON, where a file is wanted
};

void Chat::open() {
  own_template_ = read_material(request_.prompt).chat_template;
  if (!request_.quiet) tell("reading " + printable(request_.model));
  model_ = std::make_unique<Model>(request_.model, request_.reading);
  if (own_template_.empty() && model_->chat_origin().empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                "the model has no chat template, so it may be no chat model; give one with "
                "--template (a file, or one of " +
                    known_templates() + "), or go on from a text with 'ahead run'");
  }
  const ChosenLadder ladder =
      choose_ladder({.asked = request_.ladder,
                     .otherwise = ladder_query(request_, model_->facts().trained_context)});
  PipelineConfig config = request_.pipeline;
  ChosenAxes chosen = choose_axes(request_, ladder.rungs);
  config.axes = std::move(chosen.axes);
  config.design = std::move(chosen.design);
  last_rung_ = ladder.rungs.back();
  pipeline_ = std::make_unique<LLMPipeline>(*model_, request_.device, config);
}

void Chat::go() {
  for (const std::string& words : request_.notes) note(words);
  open();
  const std::unique_ptr<LineReader> lines = standard_lines();
  if (!request_.quiet) tell("/help says what can be typed; Ctrl-D ends the chat");
  while (const auto typed = lines->read()) {
    const ChatLine line = parse_chat_line(*typed);
    try {
      if (!line.command.empty()) {
        obey(line);
      } else if (line.text.find_first_not_of(" \t\n") != std::string::npos) {
        answer(line.text);
      }
    } catch (const Error& error) {
      // A turn that cannot be is no end of the conversation where somebody can say something else.
      if (!terminal_) throw;
      report_error(err_, error.what());
    }
    if (text_.reader_gone()) break;
  }
  text_.end_line();
  write_json();
}

void Chat::obey(const ChatLine& line) {
  const auto count = [&] { return std::to_string(state_.questions()) + " questions"; };
  const auto wants = [&](const char* what) {
    if (!line.text.empty()) return false;
    note(line.command + " wants " + what);
    return true;
  };
  if (line.command == "/help") {
    report(err_, kHelp);
  } else if (line.command == "/reset") {
    state_.reset();
    note("the conversation begins anew");
  } else if (line.command == "/undo") {
    note(state_.undo() ? "taken back; " + count() + " are left" : "there is nothing to take back");
  } else if (line.command == "/drop") {
    note(state_.drop_oldest() ? "forgotten; " + count() + " are left"
                              : "there is no older question than the last");
  } else if (line.command == "/system") {
    state_.set_system(line.text);
    note(line.text.empty() ? "there is no system message now" : "the system message is another");
  } else if (line.command == "/stats") {
    note(count() + ", " + std::to_string(used_) + " of " + std::to_string(last_rung_) +
         " tokens of context");
  } else if (line.command == "/think") {
    if (line.text == "hide") show_ = Thoughts::Show::kHidden;
    if (line.text == "dim") show_ = Thoughts::Show::kDimmed;
    if (line.text == "plain") show_ = Thoughts::Show::kPlain;
    if (line.text != "hide" && line.text != "dim" && line.text != "plain") {
      note("/think wants dim, hide or plain");
    }
  } else if (line.command == "/save") {
    if (wants("a file")) return;
    replace_file(line.text, state_.messages() + "\n");
    note("saved to " + path_in_quotes(line.text));
  } else if (line.command == "/load") {
    if (wants("a file")) return;
    PromptSource source;
    source.messages_file = line.text;
    state_.load("/load " + path_in_quotes(line.text), read_material(source).messages);
    note("loaded; " + count());
  } else {
    note("there is no command " + in_quotes(line.command) + "; /help lists them");
  }
}

// Whether the conversation leaves room for an answer.
bool Chat::fits(std::size_t tokens) {
  if (static_cast<std::int64_t>(tokens) < last_rung_) return true;
  note("the conversation has " + std::to_string(tokens) + " tokens, and the context is " +
       std::to_string(last_rung_) +
       "; the question was not asked. /drop forgets the oldest question, /reset everything; a "
       "longer --ladder holds more");
  return false;
}

void Chat::answer(const std::string& question) {
  state_.ask(question);
  RunResult result;
  try {
    ChatPrompt prompt{.messages = state_.messages(), .own_template = own_template_};
    prompt.parse_special = request_.prompt.parse_special;
    const std::vector<std::int32_t> ids = model_->chat_ids(prompt);
    if (!fits(ids.size())) {
      (void)state_.undo();
      return;
    }
    GenerationConfig config = request_.generation;
    config.keep_cache = true;
    config.stop_token = interrupt_.begin_turn();
    Thoughts thoughts(show_);
    result = pipeline_->generate(ids, config, [&](std::string_view piece) {
      return text_.write(thoughts.take(piece)) ? StreamingStatus::kRunning : StreamingStatus::kStop;
    });
    interrupt_.end_turn();
    text_.write(thoughts.finish());
    text_.end_line();
  } catch (...) {
    interrupt_.end_turn();
    (void)state_.undo();
    throw;
  }
  if (!result.error.empty()) {
    (void)state_.undo();
    throw Error(ErrorKind::kDevice, result.error);
  }
  state_.answer(result.text);
  used_ = result.tokens.prompt + result.tokens.generated;
  if (request_.json) turns_.push_back(to_json(result));
  tell_turn(result);
}

void Chat::tell_turn(const RunResult& result) {
  if (result.finish_reason == FinishReason::kLength) {
    note("the context of " + std::to_string(last_rung_) +
         " tokens is full, and the answer ends there; /drop forgets the oldest question, /reset "
         "everything");
  }
  if (request_.quiet) return;
  const auto& tokens = result.tokens;
  std::string rate;
  if (result.time_s.decode > 0 && tokens.generated > 1) {
    const double a_second = static_cast<double>(tokens.generated - 1) / result.time_s.decode;
    rate = ", " + std::to_string(std::lround(a_second)) + " a second";
  }
  const std::int64_t rung = tokens.by_rung.empty() ? 0 : tokens.by_rung.rbegin()->first;
  tell("[" + std::to_string(tokens.generated) + " tokens" + rate + ", first after " +
       seconds(result.time_s.ttft) + "; " + std::to_string(tokens.prompt - tokens.kept) +
       " read, " + std::to_string(tokens.kept) + " kept" +
       (rung == 0 ? "" : "; rung " + std::to_string(rung)) + ", context " + std::to_string(used_) +
       " of " + std::to_string(last_rung_) + "]");
}

void Chat::write_json() const {
  if (!request_.json) return;
  std::string all = "[";
  for (const std::string& turn : turns_) all += (all.size() > 1 ? ",\n" : "\n") + turn;
  replace_file(*request_.json, all + "]\n");
}

}  // namespace

void chat_and_exit(const RunRequest& request) {
  TurnInterrupt interrupt;  // Before any other thread.
  Outlet err(STDERR_FILENO);
  ExitCode exit = kExitOk;
  std::unique_ptr<Chat> chat;
  try {
    chat = std::make_unique<Chat>(request, interrupt, err);
    chat->go();
  } catch (const std::exception&) {
    exit = tell_failure(err, std::current_exception());
  }
  // Not by way of the destructors: the pipeline's waits for the background compile that may be
  // running, which nobody needs any more.
  std::fflush(nullptr);
  std::_Exit(exit);
}

}  // namespace ahead::cli
