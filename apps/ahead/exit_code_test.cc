// Tests of what becomes of a run's parts in the program's exit code. May use: include/ahead,
// GoogleTest.
#include "exit_code.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ahead/verify.h"

namespace ahead::cli {
namespace {

// A run over 16 and 64 whose logits are those of its control, except that `difference` is added to
// one of the control's at the boundary.
VerifyReport report_with(float difference) {
  BoundaryRecorder recorder;
  RunResult result;
  result.axes.ladder = {16, 64};
  result.tokens.prompt = 12;
  result.boundaries = {{.from = 16, .to = 64, .at_token = 16}};
  const std::vector<float> logits = {0, 1, 5, 2};
  for (std::int64_t position = 12; position < 20; ++position) {
    recorder.observe({.position = position, .rung = position < 16 ? 16 : 64, .values = logits});
    result.token_ids.push_back(2);
  }
  return verify(result, recorder, [&](const Axes&, const GenerationConfig& config) {
    for (std::int64_t position = 12; position < 20; ++position) {
      std::vector<float> control = logits;
      control[0] += position == 16 ? difference : 0;
      config.logits_observer({.position = position, .rung = 64, .values = control});
    }
    return RunResult{};
  });
}

TEST(ExitCode, LogitsThatDifferAtABoundaryAreExitCodeThree) {
  EXPECT_EQ(exit_code(report_with(10)), 3);
  EXPECT_EQ(exit_code(report_with(0)), 0);
}

TEST(ExitCode, ABoundaryWithNothingRecordedIsExitCodeThree) {
  RunResult result;
  result.axes.ladder = {16, 64};
  result.tokens.prompt = 12;
  result.token_ids.assign(8, 2);
  result.boundaries = {{.from = 16, .to = 64, .at_token = 16}};
  EXPECT_EQ(exit_code(verify(result, BoundaryRecorder(),
                             [](const Axes&, const GenerationConfig&) { return RunResult{}; })),
            3);
}

TEST(ExitCode, ErrorsAreUsageFailureOrInterrupt) {
  EXPECT_EQ(exit_code(ErrorKind::kInvalidArgument), 2);
  EXPECT_EQ(exit_code(ErrorKind::kUnsupportedModel), 2);
  EXPECT_EQ(exit_code(ErrorKind::kCompileFailed), 1);
  EXPECT_EQ(exit_code(ErrorKind::kInterrupted), 130);
}

}  // namespace
}  // namespace ahead::cli
