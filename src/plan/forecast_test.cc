// Tests of the forecast over costs that add up by hand. May use: base, GoogleTest.
#include "plan/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace ahead::plan {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Estimate takes(double seconds) {
  return {.typical_s = seconds, .late_s = 1.25 * seconds, .source = Source::kMeasured};
}

// A program takes 1 s for what rungs share and 2 s for the rung; a decode step 0.01 s, a chunk 0.5
// s.
ProgramCosts plain(const Need& need) {
  return {.shared_compile = takes(1),
          .rung_compile = takes(2),
          .step = takes(need.tokens == 1 ? 0.01 : 0.5)};
}

// 100 prompt tokens and 801 more: 800 steps from 100 to 900 rows.
ForecastInput request(Schedule schedule) {
  return {.ladder = {256, 512, 1024},
          .prompt = 100,
          .tokens = 801,
          .schedule = schedule,
          .chunks = {50},
          .costs = plain,
          .migration_s = [](std::int64_t rung) { return rung == 512 ? 0.1 : 0.2; }};
}

std::vector<std::string> compiled(const Forecast& forecast) {
  std::vector<std::string> names;
  for (const ForecastCompile& compile : forecast.compiles) names.push_back(name_of(compile.need));
  return names;
}

TEST(ForecastTest, EagerWaitsForEveryProgramBeforeItsFirstToken) {
  const Forecast forecast = plan::forecast(request(Schedule::kEager));
  // Prefill 3 s; decode 3 + 2 + 2 s; two chunks of 0.5 s.
  EXPECT_DOUBLE_EQ(forecast.foreground_compile_s, 10);
  EXPECT_DOUBLE_EQ(forecast.first_token_s, 11);
  EXPECT_DOUBLE_EQ(forecast.prefill_s, 1);
  EXPECT_THAT(forecast.decode_s, DoubleNear(8, 1e-9));
  EXPECT_DOUBLE_EQ(forecast.boundary_wait_s, 0);
  EXPECT_DOUBLE_EQ(forecast.hidden_compile_s, 0);
  EXPECT_THAT(forecast.migration_s, DoubleNear(0.3, 1e-9));
  EXPECT_THAT(forecast.critical_path_s(), DoubleNear(19.3, 1e-9));
  EXPECT_THAT(compiled(forecast),
              ElementsAre("prefill@256 of 50", "decode@256", "decode@512", "decode@1024"));
}

TEST(ForecastTest, OneAheadHidesASuccessorBehindTheTokensOfItsWindow) {
  ForecastInput input = request(Schedule::kOneAhead);
  input.ladder = {512, 1024};
  const Forecast forecast = plan::forecast(input);
  // The decode program's 3 s compile behind the prompt's 1 s.
  EXPECT_DOUBLE_EQ(forecast.first_token_s, 4);
  EXPECT_DOUBLE_EQ(forecast.foreground_compile_s, 5);
  EXPECT_DOUBLE_EQ(forecast.boundary_wait_s, 0);
  EXPECT_DOUBLE_EQ(forecast.hidden_compile_s, 3);
  const ForecastRung& next = forecast.rungs.at(1);
  EXPECT_THAT(next.window_s.value(), DoubleNear(4.12, 1e-9)) << "behind the decode program";
  EXPECT_EQ(next.window_tokens, 412);
  EXPECT_DOUBLE_EQ(next.compile_s, 2);
  EXPECT_EQ(next.tokens, 388);
  EXPECT_EQ(next.at_token, 512);
}

TEST(ForecastTest, ALateSuccessorIsWaitedForAtItsBoundary) {
  ForecastInput input = request(Schedule::kOneAhead);
  input.costs = [](const Need& need) {
    ProgramCosts costs = plain(need);
    if (need.rung == 512) costs.rung_compile = takes(10);
    return costs;
  };
  const Forecast forecast = plan::forecast(input);
  // 156 steps pass before the boundary.
  EXPECT_THAT(forecast.boundary_wait_s, DoubleNear(10 - 1.56, 1e-9));
  EXPECT_THAT(forecast.rungs.at(1).wait_s, DoubleNear(10 - 1.56, 1e-9));
  EXPECT_DOUBLE_EQ(forecast.rungs.at(2).wait_s, 0);
  EXPECT_THAT(forecast.decisions.at(4).what, HasSubstr("decode@512"));
  EXPECT_THAT(forecast.decisions.at(4).reason, HasSubstr("one ahead"));
}

TEST(ForecastTest, OnDemandWaitsForEveryProgram) {
  const Forecast forecast = plan::forecast(request(Schedule::kOnDemand));
  EXPECT_DOUBLE_EQ(forecast.foreground_compile_s, 6);
  EXPECT_DOUBLE_EQ(forecast.boundary_wait_s, 4);
  EXPECT_DOUBLE_EQ(forecast.hidden_compile_s, 0);
}

TEST(ForecastTest, ARungOutOfReachIsNotCompiled) {
  ForecastInput input = request(Schedule::kOneAhead);
  input.tokens = 157;  // The last step fills the first rung.
  const Forecast forecast = plan::forecast(input);
  EXPECT_THAT(compiled(forecast), ElementsAre("prefill@256 of 50", "decode@256"));
  EXPECT_FALSE(forecast.rungs.at(1).used);
  EXPECT_THAT(forecast.decode_s, DoubleNear(1.56, 1e-9));
}

TEST(ForecastTest, StepsAndCompilesBesideOneAnotherTakeLonger) {
  ForecastInput input = request(Schedule::kOneAhead);
  input.ladder = {512, 1024};
  input.step_factor = 1.5;
  input.compile_factor = 2;
  const Forecast forecast = plan::forecast(input);
  // The successor takes 4 s beside steps of 0.015 s: 267 of them, 5 ms each more; the prompt is
  // read beside the compile of the decode program.
  EXPECT_THAT(forecast.decode_s, DoubleNear(8 + 267 * 0.005, 1e-9));
  EXPECT_DOUBLE_EQ(forecast.prefill_s, 1.5);
  const ForecastCompile& successor = forecast.compiles.back();
  EXPECT_THAT(successor.end_s - successor.begin_s, DoubleNear(4, 1e-9));
}

TEST(ForecastTest, PartsThatServeAnyTokensAreCompiledOnce) {
  ForecastInput input = request(Schedule::kEager);
  input.shared_serves_any_tokens = {true};
  EXPECT_DOUBLE_EQ(plan::forecast(input).foreground_compile_s, 9);
}

TEST(ForecastTest, APromptOfSeveralRungsPassesThroughTheirPrograms) {
  ForecastInput input = request(Schedule::kOneAhead);
  input.prompt = 600;
  input.tokens = 1;
  const Forecast forecast = plan::forecast(input);
  EXPECT_THAT(compiled(forecast),
              ElementsAre("prefill@256 of 50", "prefill@512 of 50", "prefill@1024 of 50"));
  EXPECT_DOUBLE_EQ(forecast.prefill_s, (6 + 6 + 2) * 0.5);
  EXPECT_DOUBLE_EQ(forecast.decode_s, 0);
}

TEST(ForecastTest, ReadingThroughTheDecodeProgramMayHaveATimeOfItsOwn) {
  ForecastInput input = request(Schedule::kEager);
  input.chunks = {1};
  input.costs = [](const Need& need) {
    ProgramCosts costs = plain(need);
    costs.read_token_s = 0.02;
    return costs;
  };
  const Forecast forecast = plan::forecast(input);
  EXPECT_DOUBLE_EQ(forecast.prefill_s, 2);
  EXPECT_DOUBLE_EQ(forecast.foreground_compile_s, 7);
}

TEST(ForecastTest, TokensOfAllRungsAddUp) {
  for (const Schedule schedule :
       {Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand, Schedule::kPlanned}) {
    const Forecast forecast = plan::forecast(request(schedule));
    std::int64_t tokens = 0;
    double waited_s = 0;
    for (const ForecastRung& rung : forecast.rungs) tokens += rung.tokens;
    for (const ForecastCompile& compile : forecast.compiles) waited_s += compile.waited_s;
    EXPECT_EQ(tokens, 800);
    EXPECT_THAT(waited_s,
                DoubleNear(forecast.foreground_compile_s + forecast.boundary_wait_s, 1e-9));
    EXPECT_THAT(forecast.spans.back().end_s, DoubleNear(forecast.critical_path_s(), 1e-9));
  }
}

TEST(ForecastTest, ALongLadderIsAFewEvents) {
  ForecastInput input = request(Schedule::kPlanned);
  input.ladder = {1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
  input.prompt = 60000;
  input.tokens = 70000;
  const Forecast forecast = plan::forecast(input);
  EXPECT_LT(forecast.decisions.size(), 60U);
  EXPECT_LT(forecast.spans.size(), 60U);
}

// ---- the planned schedule ----------------------------------------------------------------------

TEST(PlannedForecastTest, ASuccessorStartsLateAndIsReady) {
  ForecastInput input = request(Schedule::kPlanned);
  input.ladder = {2048, 4096};
  input.tokens = 3000;
  const Forecast forecast = plan::forecast(input);
  EXPECT_DOUBLE_EQ(forecast.boundary_wait_s, 0);
  const ForecastCompile& successor = forecast.compiles.back();
  ASSERT_EQ(name_of(successor.need), "decode@4096");
  const double needed_s = forecast.rungs.at(1).begin_s;
  EXPECT_LT(successor.end_s, needed_s);
  EXPECT_GT(successor.begin_s, needed_s - 8) << "not long before";
  const auto said = std::find_if(
      forecast.decisions.begin(), forecast.decisions.end(),
      [](const ForecastDecision& decision) { return decision.what.starts_with("wait until"); });
  ASSERT_NE(said, forecast.decisions.end());
  EXPECT_THAT(said->reason, HasSubstr("starts at token"));
}

TEST(PlannedForecastTest, AShortPromptGoesThroughTheDecodeProgram) {
  const Forecast forecast = plan::forecast(request(Schedule::kPlanned));
  EXPECT_EQ(forecast.first_chunk, 1);
  EXPECT_DOUBLE_EQ(forecast.first_token_s, 4);
  EXPECT_THAT(forecast.decisions.front().what, HasSubstr("in chunks of 1"));
}

TEST(PlannedForecastTest, ALargerChunkIsTakenUpBehindTheFirst) {
  ForecastInput input = request(Schedule::kPlanned);
  input.ladder = {8192, 16384};
  input.prompt = 8000;
  input.chunks = {32, 1024};
  input.costs = [](const Need& need) {
    ProgramCosts costs = plain(need);
    costs.rung_compile = takes(need.tokens > 32 ? 20 : 1);
    costs.step = takes(need.tokens > 32 ? 1 : 0.5);
    return costs;
  };
  const Forecast forecast = plan::forecast(input);
  EXPECT_THAT(compiled(forecast), testing::Contains("prefill@8192 of 1024"));
  EXPECT_LT(forecast.first_token_s, 60) << "small chunks alone take 125 s";
}

// Form 0 compiles at once and is slow, form 1 takes 10 s and is fast.
ProgramCosts two_forms(const Need& need) {
  const bool fast = need.tier == 1;
  return {.rung_compile = takes(fast ? 10 : 0.1), .step = takes(fast ? 0.01 : 0.05)};
}

TEST(PlannedForecastTest, AFasterFormIsTakenUpWhenItIsReady) {
  ForecastInput input = request(Schedule::kPlanned);
  input.ladder = {1024};
  input.chunks = {1};
  input.shared_serves_any_tokens = {false, false};
  input.costs = two_forms;
  const Forecast forecast = plan::forecast(input);
  EXPECT_DOUBLE_EQ(forecast.boundary_wait_s, 0);
  EXPECT_LT(forecast.foreground_compile_s, 0.2);
  EXPECT_THAT(compiled(forecast), ElementsAre("decode@1024", "decode@1024 tier 1"));
  EXPECT_LT(forecast.decode_s, 800 * 0.05 * 0.6);
  EXPECT_EQ(name_of(forecast.spans.back().need), "decode@1024 tier 1");
}

TEST(PlannedForecastTest, AFasterFormThatDoesNotPayIsNotCompiled) {
  ForecastInput input = request(Schedule::kPlanned);
  input.ladder = {1024};
  input.chunks = {1};
  input.tokens = 150;
  input.shared_serves_any_tokens = {false, false};
  input.costs = two_forms;
  EXPECT_THAT(compiled(plan::forecast(input)), ElementsAre("decode@1024"));
}

}  // namespace
}  // namespace ahead::plan
