// Tests of what `ahead plan` says. May use: include/ahead, GoogleTest, nlohmann-json.
#include "plan_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

PlanReport report() {
  PlanForecast row{.axes = {.ladder = {1024, 2048, 4096},
                            .schedule = Schedule::kOneAhead,
                            .kv = KvPolicy::kCopyGrow,
                            .partition = Partition::kWhole},
                   .design = "i2",
                   .first_rung = 1024,
                   .first_chunk = 128,
                   .foreground_compile_s = 65.33,
                   .boundary_wait_s = 2.5,
                   .critical_path_s = 212.98,
                   .first_token_s = 67};
  row.rungs = {{.rung = 1024, .used = true, .token_s = 0.0177, .tokens = 896},
               {.rung = 2048,
                .used = true,
                .window_s = 15.9,
                .window_tokens = 896,
                .compile_s = 18.4,
                .slack_s = -2.5,
                .wait_s = 2.5,
                .source = CostSource::kMeasured},
               {.rung = 4096}};
  row.decisions = {
      {.at_s = 1, .at_token = 128, .what = "start decode@2048", .reason = "one ahead"}};
  PlanForecast choice = row;
  choice.axes.schedule = Schedule::kPlanned;
  choice.axes.partition = Partition::blocks(1);
  choice.faster = {Partition::kWhole};
  choice.first_chunk = 1;
  return {.profile = "small",
          .notes = {"by\nhand"},
          .ladder = {1024, 2048, 4096},
          .prompt = 128,
          .tokens = 8065,
          .forecasts = {row},
          .choice = choice,
          .choice_chunks = {32, 128},
          .choice_reason = "sooner"};
}

TEST(PlanReportText, GivesEachRungItsWindowCompileSlackAndVerdict) {
  const std::string text = plan_text(report());
  EXPECT_THAT(text, HasSubstr("15.90 s     896    18.40 s    -2.50 s  late by 2.50 s"));
  EXPECT_THAT(text, HasSubstr("first "));
  EXPECT_THAT(text, HasSubstr("not reached"));
  EXPECT_THAT(text, HasSubstr("measured"));
}

TEST(PlanReportText, GivesTotalsAndTheChoice) {
  const std::string text = plan_text(report());
  EXPECT_THAT(text, AllOf(HasSubstr("65.33 s"), HasSubstr("213.0 s"), HasSubstr("67.00 s")));
  EXPECT_THAT(text, HasSubstr("--ladder 1024,2048,4096 --schedule planned --partition blocks:1"));
  EXPECT_THAT(text, HasSubstr("the prompt through the decode program"));
  EXPECT_THAT(text, HasSubstr("goes on in whole"));
  EXPECT_THAT(text, HasSubstr("sooner"));
  EXPECT_THAT(text, HasSubstr("- by hand\n"));
}

TEST(PlanReportJson, HasTheSame) {
  const auto json = nlohmann::json::parse(plan_json(report()));
  EXPECT_EQ(json["request"]["prompt"], 128);
  const auto& row = json["forecasts"][0];
  EXPECT_EQ(row["design"], "i2");
  EXPECT_EQ(row["axes"]["schedule"], "one-ahead");
  EXPECT_EQ(row["time_s"]["ttft"], 67);
  EXPECT_EQ(row["time_s"]["boundary_wait"], 2.5);
  EXPECT_TRUE(row["rungs"][0]["window_s"].is_null());
  EXPECT_EQ(row["rungs"][1]["slack_s"], -2.5);
  EXPECT_EQ(row["rungs"][1]["costs"], "measured");
  EXPECT_EQ(row["decisions"][0]["reason"], "one ahead");
  EXPECT_EQ(json["choice"]["axes"]["then"][0], "whole");
  EXPECT_EQ(json["choice"]["chunks"], nlohmann::json({32, 128}));
}

}  // namespace
}  // namespace ahead::cli
