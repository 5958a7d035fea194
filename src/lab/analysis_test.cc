// From runs to tables.
#include "lab/analysis.h"

#include <gtest/gtest.h>

namespace ahead::lab {
namespace {

Campaign campaign() {
  Campaign campaign;
  campaign.protocol.blocks = 3;
  campaign.sets = {{.name = "s"}};
  campaign.arms = {{.name = "a"}, {.name = "b"}, {.name = "verify", .once = true}};
  campaign.endpoints = {{.name = "t", .label = "time", .unit = "s", .value = {"/t"}}};
  campaign.comparisons = {{.from = "a", .to = "b"}};
  return campaign;
}

RunRecord timed(std::size_t block, const std::string& arm, double seconds) {
  return {.key = {.block = block, .set = "s", .arm = arm}, .result = {{"t", seconds}}};
}

RunRecord failed(std::size_t block, const std::string& arm) {
  return {.key = {.block = block, .set = "s", .arm = arm}, .error = "it failed"};
}

TEST(Analysis, PairsAreOfTheBlocksInWhichBothDidWell) {
  const Campaign asked = campaign();
  Journal journal;
  journal.runs = {timed(2, "a", 30), timed(0, "a", 10), timed(0, "b", 11),
                  failed(1, "a"),    timed(1, "b", 22), timed(2, "b", 33)};
  const Analysis analysis = analyse(asked, journal);
  EXPECT_EQ(analysis.wanted, 7U);
  EXPECT_EQ(analysis.made, 6U);
  ASSERT_EQ(analysis.failures.size(), 1U);
  const SetAnalysis& set = analysis.sets.at(0);
  ASSERT_EQ(set.endpoints.size(), 1U);
  EXPECT_EQ(set.endpoints[0].arms.at(0).values, (std::vector<double>{10, 30}));
  EXPECT_EQ(set.endpoints[0].arms.at(0).failed, 1U);
  EXPECT_EQ(set.endpoints[0].arms.at(1).spread.median, 22);
  ASSERT_EQ(set.effects.size(), 1U);
  EXPECT_EQ(set.effects[0].effect.pairs, 2U);
  EXPECT_DOUBLE_EQ(set.effects[0].effect.difference, 2);
}

TEST(Analysis, BoundariesAreCountedOverRuns) {
  const Campaign asked = campaign();
  const auto moved = [](const std::string& arm, std::size_t block, bool ready, double wait_s) {
    RunRecord run = timed(block, arm, 1);
    run.result["model"] = {{"kv_type", "f32"},
                           {"kv_values_per_token", 100},
                           {"windows", {{{"tokens", 100}, {"kv_values_per_token", 40}}}}};
    run.result["boundaries"] = {{{"from", 1024},
                                 {"to", 2048},
                                 {"ready", ready},
                                 {"wait_s", wait_s},
                                 {"migration_s", 0.25},
                                 {"copied_bytes", 7}}};
    return run;
  };
  Journal journal;
  journal.runs = {moved("a", 0, true, 0), moved("a", 1, false, 3), moved("a", 2, true, 1)};
  RunRecord verify = moved("verify", 0, true, 0);
  verify.result["verify"]["boundaries"] = {
      {{"from", 1024}, {"to", 2048}, {"compared", 16}, {"top1_equal", 15}, {"min_cosine", 0.5}}};
  journal.runs.push_back(verify);
  const Analysis analysis = analyse(asked, journal);
  const auto& tables = analysis.sets.at(0).boundaries;
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].moves, 3U);
  EXPECT_EQ(tables[0].ready, 2U);
  EXPECT_DOUBLE_EQ(tables[0].wait_s, 1);
  EXPECT_EQ(tables[0].new_kv_bytes, 1024 * 60 * 4) << "the windowed layers' ring does not grow";
  EXPECT_EQ(tables[0].compared, 0);
  EXPECT_FALSE(tables[0].min_cosine);
  EXPECT_EQ(tables[1].arm, "verify");
  EXPECT_EQ(tables[1].top1_equal, 15);
  EXPECT_DOUBLE_EQ(*tables[1].min_cosine, 0.5);
}

}  // namespace
}  // namespace ahead::lab
