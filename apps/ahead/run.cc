// See run.h. May use: include/ahead.
#include "run.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "ahead/verify.h"
#include "exit_code.h"
#include "explain.h"
#include "interrupt.h"
#include "interruptible.h"
#include "output.h"
#include "progress.h"
#include "prompt.h"
#include "report.h"
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

  void fail(ExitCode code, const std::string& error) {
    exit = exit == kExitOk ? code : exit;
    errors.push_back(error);
  }
};

class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request),
        material_(read_material(request.prompt)),
        display_(display_here(request.quiet)) {}

  /// Everything up to the last byte written; the answer is the program's exit code.
  ExitCode go();

 private:
  [[nodiscard]] bool open_model();
  void generate(Outcome& outcome);
  template <typename Work>
  [[nodiscard]] RunResult unless_stuck(Work work);
  [[nodiscard]] RunResult generate_one();
  [[nodiscard]] RunResult generate_batch();
  void tell_rows(Outcome& outcome);
  void verify(Outcome& outcome);
  void make_room();
  void write_files(Outcome& outcome);
  void close(const Outcome& outcome) const;
  [[nodiscard]] GenerationConfig generation();
  void observe(GenerationConfig& config);
  [[nodiscard]] RunResult nothing_yet() const;

  const RunRequest& request_;
  const PromptMaterial material_;
  InterruptWatch interrupt_;  // Before the display's thread and the library's.
  ProgressDisplay display_;
  TextOutput text_{1};
  BoundaryRecorder recorder_;

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
  if (!open_model()) {
    display_.finish();
    if (!request_.quiet) {
      report_note("interrupted while the model was read");
    }
    return kExitInterrupted;
  }
  Outcome outcome;
  generate(outcome);
  display_.around_text("\n", [this] { text_.end_line(); });
  if (request_.verify && outcome.exit == kExitOk) {
    verify(outcome);
  }
  display_.finish();
  write_files(outcome);
  close(outcome);
  return outcome.exit;
}

// False when it was interrupted.
bool Run::open_model() {
  display_.phase("reading " + request_.model);
  auto model = unless_stopped(interrupt_.token(),
                              [path = request_.model] { return std::make_unique<Model>(path); });
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
  auto tokens = unless_stopped(
      interrupt_.token(), [source = request_.prompt, material = material_, model = *model_] {
        return tokens_of(source, material, model.facts().vocabulary,
                         [&](std::string_view text) { return model.encode(text); });
      });
  if (!tokens) {
    return false;
  }
  tokens_ = std::move(*tokens);
  if (!request_.prompt.first_of_forced &&
      !request_.prompt.batch_file) {  // a written prompt stands behind what the model expects
    const std::vector<std::int32_t> prefix = model_->prefix();
    tokens_.prompt.insert(tokens_.prompt.begin(), prefix.begin(), prefix.end());
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
  config.stop_token = interrupt_.token();
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
  auto result = unless_stopped(interrupt_.token(), std::move(work),
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
  }
  tell_rows(outcome);
  const RunResult& result = outcome.result;
  if (!result.error.empty()) {
    outcome.fail(kExitFailed, result.error);
  } else if (result.finish_reason == FinishReason::kCancelled) {
    outcome.exit = kExitInterrupted;
  } else if (text_.reader_gone()) {
    outcome.exit = kExitFailed;
  } else if (!text_.error().empty()) {
    outcome.fail(kExitFailed, text_.error());
  }
}

RunResult Run::generate_one() {
  GenerationConfig config = generation();
  const auto streamer = [this, tether = tether_](std::string_view text) {
    bool written = false;
    tether->through([&] {
      tether->hold();
      display_.around_text(text, [&] { written = text_.write(text); });
    });
    return written ? StreamingStatus::kRunning : StreamingStatus::kStop;
  };
  return unless_stuck([pipeline = pipeline_, prompt = tokens_.prompt, config, streamer] {
    return pipeline->generate(prompt, config, streamer);
  });
}

// Texts that are made together would mix on one output: they are written when all are there.
RunResult Run::generate_batch() {
  return unless_stuck([pipeline = pipeline_, prompts = material_.batch, config = generation()] {
    return pipeline->generate_batch(std::span<const std::string>(prompts), config);
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
  const auto made = unless_stopped(interrupt_.token(), [old = std::move(pipeline_)]() mutable {
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
    pipeline_ = std::make_shared<LLMPipeline>(*model_, request_.device, config);
    return pipeline_->generate(tokens_.prompt, generation);
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

void Run::write_files(Outcome& outcome) {
  const auto write = [&](const std::optional<std::string>& path, auto contents) {
    if (path) {
      try {
        write_file(*path, contents());
      } catch (const Error& error) {
        outcome.fail(kExitFailed, error.what());
      }
    }
  };
  write(request_.json, [&] {
    // Hashing gigabytes is not what a Ctrl-C waits for.
    auto hash = unless_stopped(interrupt_.token(), [model = *model_] { return model.sha256(); });
    if (hash) {
      outcome.result.model_sha256 = std::move(*hash);
    } else if (outcome.exit == kExitOk) {
      outcome.exit = kExitInterrupted;
    }
    return outcome.report ? to_json(outcome.result, *outcome.report) : to_json(outcome.result);
  });
  write(request_.trace, [&] { return to_chrome_trace(outcome.result); });
}

void Run::close(const Outcome& outcome) const {
  const RunResult& result = outcome.result;
  if (request_.explain) {
    report(explain(result));
  }
  if (!request_.quiet) {
    for (const TraceEvent& event : result.trace) {
      if (event.name == "history" && !event.notes.empty()) report_note(event.notes.front().second);
    }
  }
  if (!request_.quiet && !text_.reader_gone()) {
    report(summary(result));
    if (outcome.report) {
      report(verify_table(*outcome.report));
    }
    if (outcome.exit == kExitInterrupted) {
      report_note("interrupted; " + std::to_string(result.tokens.generated) +
                  " tokens were generated");
    }
    if (outcome.exit == kExitOk && result.finish_reason == FinishReason::kLength) {
      report_note("the last rung, " + std::to_string(result.axes.ladder.back()) +
                  " tokens, is full; a longer --ladder goes on");
    }
  }
  for (const std::string& error : outcome.errors) {
    report_error(error);
  }
}

}  // namespace

void run_and_exit(const RunRequest& request) {
  for (const auto& path : {request.json, request.trace}) {
    if (path) {
      check_writable(*path);
    }
  }
  Run run(request);
  const ExitCode exit = run.go();
  // Not by way of the destructors: the pipeline's waits for the background compile that may be
  // running, which nobody needs any more, and what unless_stopped() left behind is still at work.
  std::fflush(nullptr);
  std::_Exit(exit);
}

}  // namespace ahead::cli
