// Tests of the boundary proof with made-up runs. May use: include/ahead, GoogleTest.
#include "ahead/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/error.h"

namespace ahead {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kPrompt = 10;

// Logits that depend on the position alone: a peak over a small ramp.
std::vector<float> logits_at(std::int64_t position) {
  std::vector<float> values(32);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.01F * static_cast<float>(i);
  }
  values[static_cast<std::size_t>(position) % values.size()] = 5;
  return values;
}

// A run over `ladder` that makes `steps` steps from kPrompt on, shown to an observer.
template <typename Observe>
RunResult run(const std::vector<std::int64_t>& ladder, std::int64_t steps, const Observe& observe) {
  RunResult result;
  result.axes.ladder = ladder;
  result.tokens.prompt = kPrompt;
  std::size_t rung = 0;
  for (std::int64_t position = kPrompt; position < kPrompt + steps; ++position) {
    if (position >= ladder[rung] && rung + 1 < ladder.size()) {
      result.boundaries.push_back(
          {.from = ladder[rung], .to = ladder[rung + 1], .at_token = position});
      ++rung;
    }
    const std::vector<float> values = logits_at(position);
    observe(StepLogits{.position = position, .rung = ladder[rung], .values = values});
    result.token_ids.push_back(static_cast<std::int32_t>(position));
  }
  return result;
}

RunResult recorded_run(BoundaryRecorder& recorder, const std::vector<std::int64_t>& ladder,
                       std::int64_t steps) {
  return run(ladder, steps, [&](const StepLogits& step) { recorder.observe(step); });
}

// A control that agrees, except that `change` may edit the logits of a step.
template <typename Change>
ControlRunner control(const Change& change) {
  return [change](const Axes& axes, const GenerationConfig& config) {
    return run(
        axes.ladder, static_cast<std::int64_t>(config.forced_token_ids.size()),
        [&](const StepLogits& step) {
          std::vector<float> values = {step.values.begin(), step.values.end()};
          change(step.position, values);
          config.logits_observer({.position = step.position, .rung = step.rung, .values = values});
        });
  };
}

const auto kSame = [](std::int64_t, std::vector<float>&) {};

std::vector<std::int64_t> positions(const BoundaryWindow& window) {
  std::vector<std::int64_t> out;
  for (const auto& step : window.steps) {
    out.push_back(step->position);
  }
  return out;
}

TEST(BoundaryRecorder, KeepsEightStepsOnEitherSide) {
  BoundaryRecorder recorder;
  recorded_run(recorder, {32, 64, 128}, 100);
  ASSERT_EQ(recorder.windows().size(), 2U);
  EXPECT_EQ(recorder.windows()[0].from, 32);
  EXPECT_EQ(recorder.windows()[0].to, 64);
  EXPECT_THAT(positions(recorder.windows()[0]),
              ElementsAre(24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39));
  EXPECT_EQ(recorder.windows()[1].steps.size(), 16U);
  EXPECT_EQ(recorder.windows()[1].steps[8]->position, 64);
  EXPECT_EQ(recorder.windows()[1].steps[8]->values, logits_at(64));
}

TEST(BoundaryRecorder, WindowsOfShortRungsOverlap) {
  BoundaryRecorder recorder;
  recorded_run(recorder, {16, 20, 64}, 30);
  ASSERT_EQ(recorder.windows().size(), 2U);
  EXPECT_THAT(positions(recorder.windows()[0]),
              ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(positions(recorder.windows()[1]),
              ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
}

TEST(Verify, ALaddersTopCostsTheControlNothing) {
  Axes axes;
  axes.ladder = {16, 64, 32768};
  EXPECT_THAT(control_axes(axes, 30).ladder, ElementsAre(64));
  EXPECT_THAT(control_axes(axes, 64).ladder, ElementsAre(64));
  EXPECT_THAT(control_axes(axes, 65).ladder, ElementsAre(32768));
  EXPECT_THAT(control_axes(axes, 40000).ladder, ElementsAre(32768));
}

TEST(Verify, TheControlIsOneRungForcedOnWhatTheRunProduced) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 64, 128}, 20);
  Axes axes;
  GenerationConfig config;
  (void)verify(result, recorder, [&](const Axes& a, const GenerationConfig& c) {
    axes = a;
    config = c;
    return RunResult{};
  });
  EXPECT_THAT(axes.ladder, ElementsAre(64));
  EXPECT_EQ(axes.schedule, Schedule::kEager);
  EXPECT_EQ(axes.kv, KvPolicy::kSharedMax);
  EXPECT_TRUE(config.ignore_eos);
  ASSERT_GE(config.forced_token_ids.size(), result.token_ids.size());
  config.forced_token_ids.resize(result.token_ids.size());
  EXPECT_EQ(config.forced_token_ids, result.token_ids);
}

TEST(Verify, PassesWhenBothRunsAgree) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 32, 64}, 50);
  const VerifyReport report = verify(result, recorder, control(kSame));
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(report.note, "");
  ASSERT_EQ(report.boundaries.size(), 2U);
  EXPECT_EQ(report.boundaries[0].compared, 14);
  EXPECT_EQ(report.boundaries[1].from, 32);
  EXPECT_EQ(report.boundaries[1].to, 64);
  EXPECT_EQ(report.boundaries[1].compared, 16);
  EXPECT_EQ(report.boundaries[1].top1_equal, 16);
  EXPECT_NEAR(report.boundaries[1].min_cosine, 1, 1e-12);
}

TEST(Verify, FailsOnAnotherTopTokenAtTheBoundaryItHappensAt) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 32, 64}, 50);
  const VerifyReport report =
      verify(result, recorder, control([](std::int64_t position, std::vector<float>& values) {
               if (position == 32) {  // Just above the peak, so that the cosine hardly moves.
                 values[(32 % values.size()) + 1] = values[32 % values.size()] + 1e-4F;
               }
             }));
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.boundaries[0].top1_equal, report.boundaries[0].compared);
  EXPECT_EQ(report.boundaries[1].top1_equal, 15);
}

TEST(Verify, FailsOnALowCosineThoughTheTopTokenIsTheSame) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 64}, 20);
  const VerifyReport report =
      verify(result, recorder, control([](std::int64_t position, std::vector<float>& values) {
               if (position == 17) {
                 for (float& value : values) {
                   value += 0.05F;
                 }
               }
             }));
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.boundaries[0].top1_equal, report.boundaries[0].compared);
  EXPECT_LT(report.boundaries[0].min_cosine, VerifyReport::kMinCosine);
}

TEST(Verify, AScaledRowIsTheSameDirectionAndPasses) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 64}, 20);
  EXPECT_TRUE(verify(result, recorder, control([](std::int64_t, std::vector<float>& values) {
                       for (float& value : values) {
                         value *= 1.001F;
                       }
                     }))
                  .passed);
}

TEST(Verify, NotANumberNeverPasses) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    BoundaryRecorder recorder;
    const RunResult result = recorded_run(recorder, {16, 64}, 20);
    const VerifyReport report =
        verify(result, recorder, control([bad](std::int64_t position, std::vector<float>& values) {
                 if (position == 16) {
                   values[3] = bad;
                 }
               }));
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.boundaries[0].min_cosine, 0);
  }
}

TEST(Verify, FailsWhenTheControlDidNotMakeAStep) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 64}, 20);
  const VerifyReport report =
      verify(result, recorder, [](const Axes& axes, const GenerationConfig& config) {
        return run(axes.ladder, 7, config.logits_observer);  // Position 16 is its last.
      });
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.boundaries[0].compared, 7);
  EXPECT_EQ(report.boundaries[0].expected, 14);
}

TEST(Verify, ComparesTheStepThatChoseAnEndTokenToo) {
  BoundaryRecorder recorder;
  RunResult result = recorded_run(recorder, {16, 64}, 12);
  result.token_ids.pop_back();
  const VerifyReport report = verify(result, recorder, control(kSame));
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(report.boundaries[0].compared, 12);
}

TEST(Verify, ABoundaryInsideThePromptIsComparedAtTheFirstSteps) {
  BoundaryRecorder recorder;
  RunResult result = recorded_run(recorder, {64}, 20);
  result.boundaries = {{.from = 4, .to = 64, .at_token = 4}};
  const VerifyReport report = verify(result, recorder, control(kSame));
  EXPECT_TRUE(report.passed);
  ASSERT_EQ(report.boundaries.size(), 1U);
  EXPECT_EQ(report.boundaries[0].compared, 8);
}

TEST(Verify, ABoundaryTheResultForgotIsComparedAllTheSame) {
  BoundaryRecorder recorder;
  RunResult result = recorded_run(recorder, {16, 64}, 20);
  result.boundaries.clear();
  const VerifyReport report = verify(result, recorder, control(kSame));
  ASSERT_EQ(report.boundaries.size(), 1U);
  EXPECT_EQ(report.boundaries[0].from, 16);
  EXPECT_EQ(report.boundaries[0].compared, 14);
}

TEST(Verify, WithoutABoundaryItSaysSoAndRunsNoControl) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {64}, 20);
  const VerifyReport report =
      verify(result, recorder, [](const Axes&, const GenerationConfig&) -> RunResult {
        throw Error(ErrorKind::kCompileFailed, "the control must not run");
      });
  EXPECT_TRUE(report.passed);
  EXPECT_TRUE(report.boundaries.empty());
  EXPECT_THAT(report.note, HasSubstr("no boundary"));
}

TEST(Verify, ACrossedBoundaryWithNothingRecordedDoesNotPass) {
  BoundaryRecorder attached;
  const RunResult result = recorded_run(attached, {16, 64}, 20);
  const BoundaryRecorder not_attached;
  const VerifyReport report = verify(result, not_attached, control(kSame));
  EXPECT_FALSE(report.passed);
  ASSERT_EQ(report.boundaries.size(), 1U);
  EXPECT_FALSE(report.boundaries[0].passed);
  EXPECT_EQ(report.boundaries[0].expected, 0);
  EXPECT_THAT(report.note, AllOf(HasSubstr("16 -> 64"), HasSubstr("logits_observer")));
}

TEST(Verify, OneBoundaryWithNothingRecordedSpoilsTheOthers) {
  BoundaryRecorder recorder;
  RunResult result = recorded_run(recorder, {16, 32, 64}, 50);
  result.boundaries.push_back({.from = 64, .to = 128, .at_token = 59});
  const VerifyReport report = verify(result, recorder, control(kSame));
  EXPECT_FALSE(report.passed);
  ASSERT_EQ(report.boundaries.size(), 3U);
  EXPECT_TRUE(report.boundaries[1].passed);
  EXPECT_FALSE(report.boundaries[2].passed);
}

TEST(Verify, ABoundaryThatTheRunEndedOnPasses) {
  BoundaryRecorder recorder;
  // Seven tokens: the prompt's and one a step at rows 10 to 15, cut off where row 16 needs rung 64.
  RunResult result = recorded_run(recorder, {16}, 7);
  result.boundaries = {{.from = 16, .to = 64, .at_token = 16}};
  for (const FinishReason reason : {FinishReason::kCancelled, FinishReason::kError}) {
    result.finish_reason = reason;
    const VerifyReport report = verify(result, recorder, control(kSame));
    EXPECT_TRUE(report.passed);
    EXPECT_THAT(report.note, HasSubstr("ended at the boundary 16 -> 64"));
  }
  RunResult one_more = result;
  one_more.token_ids.push_back(1);
  EXPECT_FALSE(verify(one_more, recorder, control(kSame)).passed);
  RunResult stepped = result;
  stepped.tokens.by_rung[64].count = 1;
  EXPECT_FALSE(verify(stepped, recorder, control(kSame)).passed);
  RunResult ended_well = result;
  ended_well.finish_reason = FinishReason::kMaxTokens;
  EXPECT_FALSE(verify(ended_well, recorder, control(kSame)).passed);
}

TEST(Verify, AControlThatFailedOrWasCancelledIsAnErrorAndNoVerdict) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 64}, 20);
  RunResult failed;
  failed.error = "decode@64: refused";
  RunResult cancelled;
  cancelled.finish_reason = FinishReason::kCancelled;
  const auto kind_of = [&](const RunResult& control_result) {
    try {
      (void)verify(result, recorder,
                   [&](const Axes&, const GenerationConfig&) { return control_result; });
    } catch (const Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::kIo;
  };
  EXPECT_EQ(kind_of(failed), ErrorKind::kCompileFailed);
  EXPECT_EQ(kind_of(cancelled), ErrorKind::kInterrupted);
}

TEST(Verify, StandsInTheJson) {
  BoundaryRecorder recorder;
  const RunResult result = recorded_run(recorder, {16, 64}, 20);
  const VerifyReport report = verify(result, recorder, control(kSame));
  const auto json = nlohmann::json::parse(to_json(result, report));
  EXPECT_EQ(json["axes"]["ladder"], nlohmann::json({16, 64}));
  EXPECT_EQ(json["verify"]["passed"], true);
  ASSERT_EQ(json["verify"]["boundaries"].size(), 1U);
  const auto& boundary = json["verify"]["boundaries"][0];
  EXPECT_EQ(boundary["from"], 16);
  EXPECT_EQ(boundary["to"], 64);
  EXPECT_EQ(boundary["top1_equal"], 14);
  EXPECT_EQ(boundary["compared"], 14);
  EXPECT_NEAR(boundary["min_cosine"].get<double>(), 1, 1e-12);
}

}  // namespace
}  // namespace ahead
