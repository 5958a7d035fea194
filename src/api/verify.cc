// Recording logits around boundaries and holding them against an eager control.
// May use: base, include/ahead.
#include "ahead/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ahead/error.h"
#include "api/result_json.h"
#include "base/check.h"

namespace ahead {
namespace {

using Step = std::shared_ptr<const RecordedStep>;

struct Agreement {
  bool top1_equal = false;
  double cosine = 0;
};

// A row that is not finite, or all zero, agrees with nothing: its cosine is 0.
Agreement compare(std::span<const float> run, std::span<const float> control) {
  AHEAD_CHECK(!run.empty() && run.size() == control.size(), "both runs share a vocabulary");
  double dot = 0;
  double run_norm = 0;
  double control_norm = 0;
  std::size_t run_top = 0;
  std::size_t control_top = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    dot += double{run[i]} * double{control[i]};
    run_norm += double{run[i]} * double{run[i]};
    control_norm += double{control[i]} * double{control[i]};
    run_top = run[i] > run[run_top] ? i : run_top;
    control_top = control[i] > control[control_top] ? i : control_top;
  }
  const double cosine = dot / std::sqrt(run_norm * control_norm);
  if (!std::isfinite(cosine)) {
    return {};
  }
  return {.top1_equal = run_top == control_top, .cosine = cosine};
}

struct Recording {
  BoundaryVerdict verdict;
  std::vector<Step> steps;
  bool ended_there = false;  // no step was made beyond it: there is nothing to record
};

// Whether the run ended on the boundary itself. Only a failure or a cancellation does that: else a
// boundary is crossed by the step that needs it.
bool ended_at(const RunResult& result, const BoundaryRecord& boundary) {
  const bool cut_short = result.finish_reason == FinishReason::kCancelled ||
                         result.finish_reason == FinishReason::kError;
  const auto rung = result.tokens.by_rung.find(boundary.to);
  const bool stepped = rung != result.tokens.by_rung.end() && rung->second.count > 0;
  // The first token comes from the prompt's logits, each further one from a step at a row more.
  const std::int64_t made_before =
      std::max<std::int64_t>(0, boundary.at_token - result.tokens.prompt + 1);
  return cut_short && !stepped && static_cast<std::int64_t>(result.token_ids.size()) <= made_before;
}

Recording recording_of(const RunResult& result, const BoundaryRecord& boundary,
                       std::vector<Step> steps) {
  return {.verdict = {.from = boundary.from,
                      .to = boundary.to,
                      .at_token = boundary.at_token,
                      .expected = static_cast<std::int64_t>(steps.size()),
                      .min_cosine = 1},
          .steps = std::move(steps),
          .ended_there = ended_at(result, boundary)};
}

// What was recorded for each boundary. The windows are what the steps themselves say: a boundary
// that the result forgot to report is compared too.
std::vector<Recording> recordings(const RunResult& result, const BoundaryRecorder& recorded) {
  std::vector<BoundaryWindow> windows = recorded.windows();
  std::vector<Recording> out;
  for (const BoundaryRecord& boundary : result.boundaries) {
    const auto window = std::find_if(windows.begin(), windows.end(), [&](const auto& candidate) {
      return candidate.from == boundary.from && candidate.to == boundary.to;
    });
    if (window != windows.end()) {
      out.push_back(recording_of(result, boundary, std::move(window->steps)));
      windows.erase(window);
    } else if (boundary.at_token <= result.tokens.prompt) {
      out.push_back(recording_of(result, boundary, recorded.first_steps()));
    } else {
      out.push_back(recording_of(result, boundary, {}));
    }
  }
  for (BoundaryWindow& window : windows) {
    out.push_back(recording_of(result,
                               {.from = window.from, .to = window.to, .at_token = window.from},
                               std::move(window.steps)));
  }
  return out;
}

// Where the control stood, and how far it agreed there.
std::map<std::int64_t, Agreement> run_beside(const RunResult& result,
                                             const std::vector<Recording>& recorded,
                                             const ControlRunner& run_control) {
  std::map<std::int64_t, Step> wanted;
  for (const Recording& recording : recorded) {
    for (const Step& step : recording.steps) {
      wanted.emplace(step->position, step);
    }
  }

  std::map<std::int64_t, Agreement> agreements;
  GenerationConfig config;
  config.ignore_eos = true;
  config.forced_token_ids = result.token_ids;
  // The run may have made one step more than it has tokens: the one that chose an end token. Which
  // token the control is forced to take there does not matter.
  config.forced_token_ids.push_back(result.token_ids.empty() ? 0 : result.token_ids.back());
  config.logits_observer = [&](const StepLogits& step) {
    if (const auto found = wanted.find(step.position); found != wanted.end()) {
      agreements[step.position] = compare(found->second->values, step.values);
    }
  };
  const RunResult control =
      run_control(control_axes(result.axes, result.tokens.prompt +
                                                static_cast<std::int64_t>(result.token_ids.size())),
                  config);
  if (!control.error.empty()) {
    throw Error(ErrorKind::kCompileFailed, "the control of --verify failed: " + control.error);
  }
  if (control.finish_reason == FinishReason::kCancelled) {
    throw Error(ErrorKind::kInterrupted, "interrupted while the control of --verify ran");
  }
  return agreements;
}

bool passed(const Recording& recording) {
  const BoundaryVerdict& verdict = recording.verdict;
  if (verdict.expected == 0) {
    return recording.ended_there;
  }
  return verdict.compared == verdict.expected && verdict.top1_equal == verdict.compared &&
         verdict.min_cosine >= VerifyReport::kMinCosine;
}

std::string note_on(const std::vector<Recording>& recordings_of_run) {
  if (recordings_of_run.empty()) {
    return "no boundary was crossed; nothing to compare";
  }
  for (const auto& [verdict, steps, ended_there] : recordings_of_run) {
    if (steps.empty()) {
      const std::string boundary =
          std::to_string(verdict.from) + " -> " + std::to_string(verdict.to);
      return ended_there
                 ? "the run ended at the boundary " + boundary + "; nothing to compare there"
                 : "no step was recorded at the boundary " + boundary +
                       "; the recorder belongs in logits_observer before generate()";
    }
  }
  return {};
}

}  // namespace

void BoundaryRecorder::observe(const StepLogits& step) {
  auto kept = std::make_shared<const RecordedStep>(
      RecordedStep{.position = step.position, .values = {step.values.begin(), step.values.end()}});
  if (rung_ != 0 && step.rung != rung_) {
    windows_.push_back({.from = rung_, .to = step.rung, .steps = {recent_.begin(), recent_.end()}});
    steps_missing_.push_back(kSide);
  }
  rung_ = step.rung;

  // Windows overlap when a rung is shorter than one; they share the steps.
  const std::size_t first_open = windows_.size() - steps_missing_.size();
  for (std::size_t i = 0; i < steps_missing_.size(); ++i) {
    windows_[first_open + i].steps.push_back(kept);
    --steps_missing_[i];
  }
  while (!steps_missing_.empty() && steps_missing_.front() == 0) {
    steps_missing_.pop_front();
  }

  if (first_steps_.size() < kSide) {
    first_steps_.push_back(kept);
  }
  recent_.push_back(std::move(kept));
  if (recent_.size() > kSide) {
    recent_.pop_front();
  }
}

Axes control_axes(const Axes& axes, std::int64_t rows) {
  AHEAD_CHECK(!axes.ladder.empty(), "a ladder has rungs");
  const auto holds = std::lower_bound(axes.ladder.begin(), axes.ladder.end(), rows);
  Axes control;
  control.ladder = {holds == axes.ladder.end() ? axes.ladder.back() : *holds};
  control.schedule = Schedule::kEager;
  control.kv = KvPolicy::kSharedMax;
  control.partition = axes.partition;
  return control;
}

VerifyReport verify(const RunResult& result, const BoundaryRecorder& recorded,
                    const ControlRunner& run_control) {
  VerifyReport report;
  std::vector<Recording> recordings_of_run = recordings(result, recorded);
  const bool nothing = std::all_of(recordings_of_run.begin(), recordings_of_run.end(),
                                   [](const Recording& r) { return r.steps.empty(); });
  report.note = note_on(recordings_of_run);

  std::map<std::int64_t, Agreement> agreements;
  if (!nothing) {
    agreements = run_beside(result, recordings_of_run, run_control);
  }
  report.passed = true;
  for (Recording& recording : recordings_of_run) {
    BoundaryVerdict& verdict = recording.verdict;
    for (const Step& step : recording.steps) {
      if (const auto found = agreements.find(step->position); found != agreements.end()) {
        ++verdict.compared;
        verdict.top1_equal += found->second.top1_equal ? 1 : 0;
        verdict.min_cosine = std::min(verdict.min_cosine, found->second.cosine);
      }
    }
    verdict.passed = passed(recording);
    report.passed = report.passed && verdict.passed;
    report.boundaries.push_back(verdict);
  }
  return report;
}

std::string to_json(const RunResult& result, const VerifyReport& report) {
  nlohmann::ordered_json object = api::result_object(result);
  nlohmann::ordered_json boundaries = nlohmann::ordered_json::array();
  for (const BoundaryVerdict& verdict : report.boundaries) {
    boundaries.push_back({{"from", verdict.from},
                          {"to", verdict.to},
                          {"at_token", verdict.at_token},
                          {"top1_equal", verdict.top1_equal},
                          {"compared", verdict.compared},
                          {"expected", verdict.expected},
                          {"min_cosine", verdict.min_cosine}});
  }
  object["verify"] = {{"boundaries", std::move(boundaries)},
                      {"passed", report.passed},
                      {"min_cosine_required", VerifyReport::kMinCosine},
                      {"note", report.note}};
  return api::dump(object);
}

}  // namespace ahead
