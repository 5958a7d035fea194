// See run.h. May use: include/ahead, base.
#include "run.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "ahead/verify.h"
#include "base/outlet.h"
#include "exit_code.h"
#include "explain.h"
#include "failure.h"
#include "interrupt.h"
#include "interruptible.h"
#include "named_files.h"
#include "output.h"
#include "progress.h"
#include "prompt.h"
#include "report.h"
#include "run_files.h"
#include "summary.h"
#include "tether.h"

namespace ahead::cli {
namespace {

// What a run has besides its result.
struct Outcome {
  RunResult result;
  std::optional<VerifyReport> report;
  ExitCode exit = kExitOk;
  std::vector<std::string> errors;
  std::optional<std::string> no_hash;  ///< why the model's file has none

  void fail(ExitCode code, const std::string& error) {
    exit = exit == kExitOk ? code : exit;
    errors.push_back(error);
  }
};

class Run {
 public:
  Run(const RunRequest& request, std::stop_token stop, Outlet& err)
      : request_(request),
        stop_(std::move(stop)),
        err_(err),
        display_(display_here(request.quiet), err),
        text_(STDOUT_FILENO, stop_) {}

  /// Everything up to the last byte written; the answer is the program's exit code.
  ExitCode go();

  /// Nothing is drawn any more.
  void end_progress() { display_.finish(); }

 private:
  [[nodiscard]] bool prepare();
  [[nodiscard]] bool open_model();
  ExitCode interrupted_while(const std::string& what);
  [[nodiscard]] StreamingStatus put(std::string_view text);
  void judge_text(Outcome& outcome) const;
  void hash_model(Outcome& outcome);
  void generate(Outcome& outcome);
  template <typename Work>
  [[nodiscard]] RunResult unless_stuck(Work work);
  [[nodiscard]] RunResult generate_one();
  [[nodiscard]] RunResult generate_batch();
  void tell_rows(Outcome& outcome);
  void verify(Outcome& outcome);
  void make_room();
  void write_files(Outcome& outcome);
  void close(const Outcome& outcome);
  [[nodiscard]] GenerationConfig generation();
  void observe(GenerationConfig& config);
  [[nodiscard]] RunResult nothing_yet() const;

  const RunRequest& request_;
  const std::stop_token stop_;
  Outlet& err_;
  ProgressDisplay display_;
  TextOutput text_;
  BoundaryRecorder recorder_;

  RunFiles files_;
  std::unique_ptr<Model> model_;
  std::shared_ptr<LLMPipeline> pipeline_;
  std::shared_ptr<Tether> tether_;  ///< of the generation under way
  PipelineConfig config_;
  PromptTokens tokens_;
};

ExitCode Run::go() {
  for (const std::string& note : request_.notes) {
    display_.notice(note);
  }
  if (!prepare()) return interrupted_while("the prompt was read");
  if (!open_model()) return interrupted_while("the model was read");
  Outcome outcome;
  generate(outcome);
  display_.around_text("\n", [this] { text_.end_line(); });
  judge_text(outcome);
  if (request_.verify && outcome.exit == kExitOk) {
    verify(outcome);
  }
  display_.finish();
  write_files(outcome);
  close(outcome);
  return outcome.exit;
}

// False when it was interrupted, as is open_model(). A file may be a pipe that nobody writes to.
bool Run::prepare() {
  auto files = unless_stopped(stop_, [request = request_] { return open_files(request); });
  if (files) files_ = *std::move(files);
  return files.has_value();
}

ExitCode Run::interrupted_while(const std::string& what) {
  display_.finish();
  if (!request_.quiet) {
    report_note(err_, "interrupted while " + what);
  }
  return kExitInterrupted;
}

bool Run::open_model() {
  display_.phase("reading " + request_.model);
  auto model = unless_stopped(stop_, [path = request_.model, options = request_.reading] {
    return std::make_unique<Model>(path, options);
  });
  if (!model) {
    return false;
  }
  model_ = std::move(*model);
  const ModelFacts& facts = model_->facts();
  const ChosenLadder ladder = choose_ladder(
      {.asked = request_.ladder, .otherwise = ladder_query(request_, facts.trained_context)});
  if (!ladder.note.empty()) {
    display_.notice(ladder.note);
  }
  auto tokens = unless_stopped(stop_, [source = request_.prompt, material = files_.material,
                                       model = *model_] {
    return tokens_of(source, material,
                     {.vocabulary = model.facts().vocabulary,
                      .encode = [&](std::string_view text) { return model.encode(text); },
                      .prompt_ids = [&](std::string_view text) { return model.prompt_ids(text); },
                      .unspelled = [&](std::string_view text) { return model.unspelled(text); },
                      .chat_origin = model.chat_origin(),
                      .chat_ids = [&](const ChatPrompt& chat) { return model.chat_ids(chat); }});
  });
  if (!tokens) {
    return false;
  }
  tokens_ = std::move(*tokens);
  for (const std::vector<std::string>& notes : {files_.material.notes, tokens_.notes}) {
    for (const std::string& note : notes) display_.notice(note);
  }
  config_ = request_.pipeline;
  ChosenAxes chosen = choose_axes(request_, ladder.rungs);
  config_.axes = std::move(chosen.axes);
  config_.design = std::move(chosen.design);
  pipeline_ = std::make_shared<LLMPipeline>(*model_, request_.device, config_);
  return true;
}

GenerationConfig Run::generation() {
  GenerationConfig config = request_.generation;
  config.forced_token_ids = tokens_.forced;
  observe(config);
  if (request_.verify) {
    config.logits_observer = [this, tether = tether_](const StepLogits& step) {
      tether->through([&] { recorder_.observe(step); });
    };
  }
  return config;
}

void Run::observe(GenerationConfig& config) {
  tether_ = std::make_shared<Tether>();
  config.stop_token = stop_;
  config.progress_observer = [this, tether = tether_](const Progress& event) {
    tether->through([&] {
      if (event.kind == Progress::Kind::kToken) tether->hold();
      display_.update(event);
    });
  };
}

// Runs a generation on a thread of its own, so that an interrupt need not wait for a device call of
// seconds, as a chunk of a prompt through a whole graph is, when there is no token yet to lose.
template <typename Work>
RunResult Run::unless_stuck(Work work) {
  constexpr std::chrono::milliseconds kPatience{150};
  auto result = unless_stopped(stop_, std::move(work),
                               {.patience = kPatience, .may = [this] { return tether_->cut(); }});
  return result ? *std::move(result) : nothing_yet();
}

// What is known of a run that ended before its first token.
RunResult Run::nothing_yet() const {
  RunResult result;
  result.axes = config_.axes;
  if (config_.kv_type) result.kv_type = *config_.kv_type;
  result.design = config_.design;
  result.device = request_.device;
  result.model = model_->facts();
  result.tokens.prompt = static_cast<std::int64_t>(tokens_.prompt.size());
  result.time_s.load = model_->load_s();
  result.finish_reason = FinishReason::kCancelled;
  return result;
}

void Run::generate(Outcome& outcome) {
  display_.begin_request(static_cast<std::int64_t>(tokens_.prompt.size()));
  try {
    outcome.result = request_.prompt.batch_file ? generate_batch() : generate_one();
  } catch (const Error& error) {
    if (exit_code(error.kind()) == kExitUsage) {
      throw;
    }
    outcome.result = nothing_yet();
    if (error.kind() != ErrorKind::kInterrupted) {
      outcome.result.finish_reason = FinishReason::kError;
      outcome.result.error = error.what();
    }
  } catch (const std::exception& error) {
    outcome.result = nothing_yet();
    outcome.result.finish_reason = FinishReason::kError;
    outcome.result.error = failure_text(error);
  }
  outcome.result.chat = tokens_.chat;
  tell_rows(outcome);
  const RunResult& result = outcome.result;
  if (!result.error.empty()) {
    outcome.fail(kExitFailed, result.error);
  } else if (result.finish_reason == FinishReason::kCancelled) {
    outcome.exit = kExitInterrupted;
  }
}

// What became of the text, unless the run failed anyway.
void Run::judge_text(Outcome& outcome) const {
  if (outcome.exit != kExitOk) return;
  if (text_.given_up()) {
    outcome.exit = kExitInterrupted;
  } else if (text_.reader_gone()) {
    outcome.exit = kExitFailed;
  } else if (!text_.error().empty()) {
    outcome.fail(kExitFailed, text_.error());
  }
}

// A text that cannot be written is no reason to go without it in the file that has it too; one that
// nobody reads any more is.
StreamingStatus Run::put(std::string_view text) {
  if (text_.write(text)) return StreamingStatus::kRunning;
  if (text_.given_up()) return StreamingStatus::kCancel;
  return request_.json && !text_.reader_gone() ? StreamingStatus::kRunning : StreamingStatus::kStop;
}

RunResult Run::generate_one() {
  GenerationConfig config = generation();
  const auto streamer = [this, tether = tether_](std::string_view text) {
    StreamingStatus status = StreamingStatus::kStop;
    tether->through([&] {
      tether->hold();
      display_.around_text(text, [&] { status = put(text); });
    });
    return status;
  };
  return unless_stuck([pipeline = pipeline_, prompt = tokens_.prompt, config, streamer] {
    return pipeline->generate(prompt, config, streamer);
  });
}

// Texts that are made together would mix on one output: they are written when all are there.
RunResult Run::generate_batch() {
  return unless_stuck([pipeline = pipeline_, prompts = files_.material.batch, ids = tokens_.batch,
                       config = generation()] {
    return ids.empty()
               ? pipeline->generate_batch(std::span<const std::string>(prompts), config)
               : pipeline->generate_batch(std::span<const std::vector<std::int32_t>>(ids), config);
  });
}

// Each text under its line's number; what could not run is an error, and the others stand.
void Run::tell_rows(Outcome& outcome) {
  for (std::size_t row = 0; row < outcome.result.rows.size(); ++row) {
    const RowResult& made = outcome.result.rows[row];
    const std::string line = "line " + std::to_string(row + 1);
    if (!made.error.empty()) {
      outcome.fail(kExitFailed, line + " of --batch did not run: " + made.error);
      continue;
    }
    const std::string text = "=== " + line + "\n" + made.text + "\n";
    display_.around_text(text, [&] { text_.write(text); });
  }
}

// The run's programs go before the control's come: a compile under way ends first.
void Run::make_room() {
  display_.phase("making room for the control of --verify");
  const auto made = unless_stopped(stop_, [old = std::move(pipeline_)]() mutable {
    old.reset();
    return true;
  });
  if (!made) {
    throw Error(ErrorKind::kInterrupted, "interrupted before the control of --verify ran");
  }
}

void Run::verify(Outcome& outcome) {
  const ControlRunner control = [this](const Axes& axes, const GenerationConfig& asked) {
    make_room();
    display_.phase("verifying against an eager control at rung " +
                   std::to_string(axes.ladder.back()));
    display_.begin_request(static_cast<std::int64_t>(tokens_.prompt.size()));
    PipelineConfig config = config_;
    config.axes = axes;
    config.design.clear();
    config.inject_compile_failure.reset();
    GenerationConfig generation = asked;
    observe(generation);
    generation.logits_observer = [compare = asked.logits_observer,
                                  tether = tether_](const StepLogits& step) {
      tether->through([&] { compare(step); });
    };
    pipeline_ = std::make_shared<LLMPipeline>(*model_, request_.device, config);
    return unless_stuck([pipeline = pipeline_, prompt = tokens_.prompt, generation] {
      return pipeline->generate(prompt, generation);
    });
  };
  try {
    outcome.report = ahead::verify(outcome.result, recorder_, control);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) {
      outcome.exit = kExitInterrupted;
    } else {
      outcome.fail(kExitFailed, error.what());
    }
  }
  if (outcome.report && exit_code(*outcome.report) != kExitOk) {
    outcome.fail(exit_code(*outcome.report), verify_failure(*outcome.report));
  }
}

// Each by itself: what one cannot be written to is no reason to lose the other.
void Run::write_files(Outcome& outcome) {
  const auto write = [&](const std::optional<Destination>& file, auto contents) {
    if (!file) return;
    try {
      file->write(contents(), {.out = text_, .err = err_, .stop = stop_});
    } catch (const std::exception& error) {
      // Of a stop that came while a reader was waited for, the program was told as well.
      outcome.fail(stop_.stop_requested() ? kExitInterrupted : kExitFailed, failure_text(error));
    }
  };
  write(files_.json, [&] {
    hash_model(outcome);
    return outcome.report ? to_json(outcome.result, *outcome.report) : to_json(outcome.result);
  });
  write(files_.trace, [&] { return to_chrome_trace(outcome.result); });
  judge_text(outcome);
}

// Hashing gigabytes is not what a Ctrl-C waits for, and a file that changed or went since it was
// read is nothing that a result has to be lost for.
void Run::hash_model(Outcome& outcome) {
  try {
    auto hash = unless_stopped(stop_, [model = *model_] { return model.sha256(); });
    if (hash) {
      outcome.result.model_sha256 = std::move(*hash);
    } else if (outcome.exit == kExitOk) {
      outcome.exit = kExitInterrupted;
    }
  } catch (const std::exception& error) {
    outcome.no_hash = failure_text(error);
  }
}

// What to do about a full last rung, where something can be done.
std::string full_note(const RunResult& result) {
  const std::int64_t last = result.axes.ladder.back();
  const std::int64_t trained = result.model.trained_context;
  constexpr std::int64_t kBlock = 128;  // a default ladder ends in a whole one
  if (trained > 0 && trained - last < kBlock) {
    return "the model's context of " + std::to_string(trained) + " tokens is full";
  }
  return "the last rung, " + std::to_string(last) + " tokens, is full; a longer --ladder goes on";
}

// At most one note about the history, whatever went wrong with it.
void report_notes(Outlet& err, const Outcome& outcome) {
  if (outcome.no_hash) {
    report_note(err, "the JSON has no checksum of the model: " + *outcome.no_hash);
  }
  for (const TraceEvent& event : outcome.result.trace) {
    if (event.name == "history" && !event.notes.empty()) {
      report_note(err, event.notes.front().second +
                           "; --history FILE keeps it elsewhere, --history none not at all");
      return;
    }
  }
}

void Run::close(const Outcome& outcome) {
  const RunResult& result = outcome.result;
  if (request_.explain) {
    report(err_, explain(result));
  }
  if (!request_.quiet) report_notes(err_, outcome);
  if (!request_.quiet && !text_.reader_gone()) {
    report(err_, summary(result));
    if (outcome.report) {
      report(err_, verify_table(*outcome.report));
    }
    if (outcome.exit == kExitInterrupted) {
      report_note(err_, "interrupted; " + std::to_string(result.tokens.generated) +
                            " tokens were generated");
    }
    if (outcome.exit == kExitOk && result.finish_reason == FinishReason::kLength) {
      report_note(err_, full_note(result));
    }
  }
  for (const std::string& error : outcome.errors) {
    report_error(err_, error);
  }
  (void)err_.flush();
}

}  // namespace

void run_and_exit(const RunRequest& request) {
  const InterruptWatch interrupt;  // Before any other thread.
  Outlet err(STDERR_FILENO, {.stop = interrupt.token()});
  std::unique_ptr<Run> run;
  ExitCode exit = kExitFailed;
  try {
    run = std::make_unique<Run>(request, interrupt.token(), err);
    exit = run->go();
  } catch (const std::exception&) {
    if (run) run->end_progress();
    exit = tell_failure(err, std::current_exception());
  }
  // Not by way of the destructors: the pipeline's waits for the background compile that may be
  // running, which nobody needs any more, and what unless_stopped() left behind is still at work.
  // What a library left in a buffer may wait for a reader.
  if (!interrupt.token().stop_requested()) std::fflush(nullptr);
  std::_Exit(exit);
}

}  // namespace ahead::cli
