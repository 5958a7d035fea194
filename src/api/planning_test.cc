// Tests of plans over the profiles that come with the project: the published campaign's figures,
// and what is promised of the planned schedule on the NPU's compiler. May use: include/ahead,
// GoogleTest.
#include "ahead/planning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

using ::testing::HasSubstr;

Profile profile_of(const std::string& name) {
  std::ifstream file(std::string(AHEAD_SOURCE_DIR) + "/profiles/" + name + ".json");
  std::ostringstream text;
  text << file.rdbuf();
  return read_profile(text.str());
}

PlanForecast row_of(PlanRequest request, Schedule schedule, Partition partition) {
  request.schedule = schedule;
  request.partition = partition;
  return make_plan(request).forecasts.at(0);
}

void expect_within_percent(double value, double published, const char* what) {
  EXPECT_NEAR(value, published, 0.01 * published) << what;
}

// ---- the published campaign ------------------------------------------------------------------

TEST(PublishedCampaign, EagerIsWithinOnePercentOfTheTable) {
  const PlanRequest request{.profile = profile_of("published-npu5-qwen2.5-0.5b")};
  const PlanForecast i1 = row_of(request, Schedule::kEager, Partition::kWhole);
  EXPECT_EQ(i1.design, "i1");
  expect_within_percent(i1.foreground_compile_s, 84.29, "foreground compile");
  expect_within_percent(i1.critical_path_s, 232.43, "critical path");
  expect_within_percent(i1.decode_s, 143.32, "decode");
  EXPECT_EQ(i1.boundary_wait_s, 0);
  EXPECT_EQ(i1.hidden_compile_s, 0);
}

TEST(PublishedCampaign, OneAheadIsWithinOnePercentOfTheTable) {
  const PlanRequest request{.profile = profile_of("published-npu5-qwen2.5-0.5b")};
  const PlanForecast i2 = row_of(request, Schedule::kOneAhead, Partition::kWhole);
  EXPECT_EQ(i2.design, "i2");
  expect_within_percent(i2.foreground_compile_s, 65.33, "foreground compile");
  expect_within_percent(i2.critical_path_s, 212.98, "critical path");
  expect_within_percent(i2.decode_s, 142.94, "decode");
  expect_within_percent(i2.hidden_compile_s, 20.65, "hidden compile");
  EXPECT_EQ(i2.boundary_wait_s, 0) << "15 of 15 ready";
}

// ---- the NPU's compiler ----------------------------------------------------------------------

PlanRequest npu(std::int64_t last_rung) {
  PlanRequest request{.profile = profile_of("npu5010-compiler")};
  for (std::int64_t rung = 1024; rung <= last_rung; rung *= 2) request.ladder.push_back(rung);
  request.prompt = 128;
  request.tokens = last_rung - 128 + 1;
  return request;
}

PlanForecast planned(PlanRequest request) {
  request.schedule = Schedule::kPlanned;
  const PlanReport report = make_plan(request);
  return report.forecasts.at(report.shown);
}

class NpuCompiler : public testing::TestWithParam<std::int64_t> {};

TEST_P(NpuCompiler, OneAheadOfWholeGraphsStalls) {
  const PlanForecast i2 = row_of(npu(GetParam()), Schedule::kOneAhead, Partition::kWhole);
  // 896 tokens take 4 s, the next program 96 s and more beside them.
  EXPECT_GT(i2.rungs.at(1).wait_s, 80);
  EXPECT_LT(i2.rungs.at(1).slack_s.value(), 0);
}

TEST_P(NpuCompiler, PlannedDoesNotStallAndItsFirstTokenComesInATwentiethOfTheTime) {
  const PlanForecast i1 = row_of(npu(GetParam()), Schedule::kEager, Partition::kWhole);
  const PlanForecast best = planned(npu(GetParam()));
  EXPECT_EQ(best.boundary_wait_s, 0);
  EXPECT_LE(best.first_token_s, i1.first_token_s / 20);
  for (const PlanRung& rung : best.rungs) EXPECT_EQ(rung.wait_s, 0) << rung.rung;
}

TEST_P(NpuCompiler, TheFirstTokenDoesNotDependOnTheLaddersTop) {
  const double at_8k = planned(npu(8192)).first_token_s;
  EXPECT_NEAR(planned(npu(GetParam())).first_token_s, at_8k, 0.1 * at_8k);
}

INSTANTIATE_TEST_SUITE_P(Tops, NpuCompiler, testing::Values(8192, 32768, 131072),
                         [](const auto& top) { return "To" + std::to_string(top.param); });

TEST(NpuCompilerChoice, IsTheCutThatIsReadySoonest) {
  const PlanReport report = make_plan(npu(8192));
  EXPECT_EQ(report.choice.axes.schedule, Schedule::kPlanned);
  EXPECT_EQ(report.choice.axes.partition, Partition::blocks(1));
  EXPECT_THAT(report.choice_reason, HasSubstr("first token in"));
}

// ---- requests ----------------------------------------------------------------------------------

TEST(MakePlan, ForecastsEveryScheduleOfEveryPartition) {
  const PlanReport report = make_plan(npu(8192));
  EXPECT_EQ(report.forecasts.size(), schedules().size() * 3);
  const auto i1 = std::find_if(report.forecasts.begin(), report.forecasts.end(),
                               [](const PlanForecast& row) { return row.design == "i1"; });
  ASSERT_NE(i1, report.forecasts.end());
  EXPECT_EQ(i1->axes.kv, KvPolicy::kCopyGrow);
}

TEST(MakePlan, TimesOfRungsThatAreNotThereAreRefused) {
  PlanRequest request = npu(8192);
  request.token_s = {{1000, 0.2}};
  try {
    (void)make_plan(request);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("--token-ms names 1000"));
  }
}

TEST(MakePlan, AWaitInsideThePromptIsAWaitOfItsRung) {
  PlanRequest request = npu(8192);
  request.prompt = 3000;
  request.tokens = 10;
  const PlanForecast row = row_of(request, Schedule::kOnDemand, Partition::kWhole);
  EXPECT_EQ(row.boundary_wait_s, 0) << "the first token is not out";
  EXPECT_GT(row.rungs.at(1).wait_s, 0);
  EXPECT_LT(row.rungs.at(1).slack_s.value(), 0);
}

TEST(MakePlan, TimesThatAreGivenStandForTheProfiles) {
  PlanRequest request = npu(8192);
  request.token_s = {{0, 0.2}};
  request.compile_s = {{2048, 7}, {4096, 300}};
  const PlanForecast row = row_of(request, Schedule::kOneAhead, Partition::kWhole);
  EXPECT_NEAR(row.decode_s, 8064 * 0.2, 1e-6);
  EXPECT_NEAR(row.rungs.at(1).compile_s, 7 * 1.0891, 1e-6);
  EXPECT_NEAR(row.rungs.at(2).wait_s, 300 - 1024 * 0.2 / 1.0891, 0.3);
  EXPECT_EQ(row.rungs.at(1).source, CostSource::kGiven);
}

TEST(MakePlan, SaysWhenACostIsBetweenOrBeyondThoseOfTheProfile) {
  PlanRequest request{.profile = profile_of("published-npu5-qwen2.5-0.5b"),
                      .ladder = {1024, 1536, 16384}};
  const PlanForecast row = row_of(request, Schedule::kOneAhead, Partition::kWhole);
  EXPECT_EQ(row.rungs.at(0).source, CostSource::kInferred);
  EXPECT_EQ(row.rungs.at(1).source, CostSource::kInterpolated);
  EXPECT_EQ(row.rungs.at(2).source, CostSource::kExtrapolated);
  EXPECT_THAT(make_plan(request).notes.back(), HasSubstr("extrapolated"));
}

TEST(MakePlan, TheTimelineHasDecisionsWithReasons) {
  const PlanForecast row = planned(npu(8192));
  const auto decision = std::find_if(row.trace.begin(), row.trace.end(), [](const auto& event) {
    return event.row == "decisions" && event.name.starts_with("start ");
  });
  ASSERT_NE(decision, row.trace.end());
  EXPECT_FALSE(decision->notes.at(0).second.empty());
}

std::string refusal(const PlanRequest& request) {
  try {
    (void)make_plan(request);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(MakePlan, RefusesWhatCannotBe) {
  PlanRequest request = npu(8192);
  request.prompt = 8193;
  EXPECT_THAT(refusal(request), HasSubstr("8193"));
  request = npu(8192);
  request.partition = Partition::blocks(7);
  EXPECT_THAT(refusal(request), HasSubstr("whole, blocks:1 or attention"));
  request = npu(8192);
  request.chunks = {2048};
  EXPECT_THAT(refusal(request), HasSubstr("chunk of 2048"));
  request = npu(8192);
  request.tokens = 0;
  EXPECT_THAT(refusal(request), HasSubstr("--tokens"));
  request = npu(8192);
  request.ladder.clear();
  for (std::int64_t rung = 16; rung <= 257 * 16; rung += 16) request.ladder.push_back(rung);
  EXPECT_THAT(refusal(request), HasSubstr("257 rungs"));
}

TEST(GuessProfile, GuessesSayThatTheyAre) {
  const ModelFacts facts{.path = "m.gguf",
                         .layers = 30,
                         .kv_heads = 3,
                         .head_dim = 64,
                         .trained_context = 8192,
                         .kv_values_per_token = 11520};
  const PlanReport report = make_plan({.profile = guess_profile(facts, 92'000'000)});
  EXPECT_EQ(report.ladder, (std::vector<std::int64_t>{1024, 2048, 4096, 8192}));
  for (const PlanRung& rung : report.forecasts.at(0).rungs) {
    EXPECT_EQ(rung.source, CostSource::kGuessed);
  }
  EXPECT_THAT(report.notes.at(0), HasSubstr("guessed"));
}

}  // namespace
}  // namespace ahead
