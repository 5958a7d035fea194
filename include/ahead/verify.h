// Proof of the boundaries: a run's logits on both sides of every switch, held against an eager
// control that never switches.
//
//   ahead::BoundaryRecorder recorder;
//   config.logits_observer = [&](const ahead::StepLogits& step) { recorder.observe(step); };
//   auto result = pipeline.generate(prompt_ids, config);
//   auto report = ahead::verify(result, recorder, [&](const ahead::Axes& axes, auto control) {
//     ahead::PipelineConfig other = pipeline_config;  // the run's own: above all its kv_type, or
//     other.axes = axes;                              // rounding would be taken for a difference
//     return ahead::LLMPipeline(model, device, other).generate(prompt_ids, control);
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/generation_config.h"
#include "ahead/run_result.h"

namespace ahead {

/// One step's logits, kept.
struct RecordedStep {
  std::int64_t position = 0;
  std::vector<float> values;
};

/// The steps kept around one boundary.
struct BoundaryWindow {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::vector<std::shared_ptr<const RecordedStep>> steps;  ///< by position, ascending
};

/// Keeps the logits of the steps around every change of rung, and of the first steps after the
/// prompt. Memory: about 2 * kSide rows a boundary, however long the run. Not thread-safe.
class BoundaryRecorder {
 public:
  /// Steps kept on either side of a boundary.
  static constexpr std::size_t kSide = 8;

  /// To be called for every step of one run, in order.
  void observe(const StepLogits& step);

  /// One window for each change of rung between two steps, in order.
  [[nodiscard]] const std::vector<BoundaryWindow>& windows() const { return windows_; }

  /// The run's first steps: they depend on all that the prompt left in the cache.
  [[nodiscard]] const std::vector<std::shared_ptr<const RecordedStep>>& first_steps() const {
    return first_steps_;
  }

 private:
  std::int64_t rung_ = 0;
  std::deque<std::shared_ptr<const RecordedStep>> recent_;
  std::vector<std::shared_ptr<const RecordedStep>> first_steps_;
  std::vector<BoundaryWindow> windows_;
  std::deque<std::size_t> steps_missing_;  // of the newest windows: steps still to come, never 0
};

/// One boundary held against the control.
struct BoundaryVerdict {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t at_token = 0;
  std::int64_t expected = 0;    ///< steps recorded around it
  std::int64_t compared = 0;    ///< of these, steps the control made too
  std::int64_t top1_equal = 0;  ///< of these, steps with the same most likely token
  double min_cosine = 0;        ///< over the compared steps; 1 when there are none
  bool passed = false;          ///< see VerifyReport::passed
};

/// What verify() found.
struct VerifyReport {
  std::vector<BoundaryVerdict> boundaries;
  /// At every boundary steps were recorded, and each was compared, its top-1 equal, its cosine at
  /// least kMinCosine. A boundary without recorded steps passes only where the run was cancelled or
  /// failed before it made one: otherwise the recorder was not attached. Also true when no boundary
  /// was crossed. `note` says what there was not to compare.
  bool passed = false;
  std::string note;

  static constexpr double kMinCosine = 0.9999;
};

/// Makes one run on `axes` from the same prompt, model, device and KV type.
using ControlRunner = std::function<RunResult(const Axes& axes, const GenerationConfig& config)>;

/// The control's axes for a run on `axes` that came to `rows` tokens: the first rung that holds
/// them all, or the last, alone and compiled up front. A ladder's top costs a control nothing
/// either, unless the run came there.
[[nodiscard]] Axes control_axes(const Axes& axes, std::int64_t rows);

/// Runs the control, teacher-forced on what `result` produced, and compares it with `recorded` at
/// the windows of the boundaries of `result`. A boundary that the prompt crossed is compared at the
/// first steps after the prompt. Without boundaries the control is not run.
///
/// Throws Error(kInterrupted) when the control was cancelled, Error(kCompileFailed) when it failed,
/// and what `run_control` throws.
[[nodiscard]] VerifyReport verify(const RunResult& result, const BoundaryRecorder& recorded,
                                  const ControlRunner& run_control);

/// The run's JSON with the report as its "verify".
[[nodiscard]] std::string to_json(const RunResult& result, const VerifyReport& report);

}  // namespace ahead
