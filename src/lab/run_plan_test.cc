// The order of a campaign's runs.
#include "lab/run_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ahead::lab {
namespace {

using testing::ElementsAre;

Campaign campaign(std::size_t blocks, std::vector<std::string> arms) {
  Campaign campaign;
  campaign.protocol.blocks = blocks;
  campaign.sets = {{.name = "s"}, {.name = "t"}};
  for (std::string& arm : arms) campaign.arms.push_back({.name = std::move(arm)});
  return campaign;
}

std::vector<std::string> arms_of(const std::vector<RunKey>& runs, std::size_t block,
                                 const std::string& set) {
  std::vector<std::string> arms;
  for (const RunKey& run : runs) {
    if (run.block == block && run.set == set) arms.push_back(run.arm);
  }
  return arms;
}

TEST(RunPlan, EveryArmRunsOnceInEachBlockOfEachSet) {
  const auto runs = runs_of(campaign(6, {"a", "b", "c"}));
  EXPECT_EQ(runs.size(), 6U * 2 * 3);
  EXPECT_EQ(std::set<RunKey>(runs.begin(), runs.end()).size(), runs.size());
}

TEST(RunPlan, BlocksGoThroughTheSequencesOfTheDesign) {
  const auto runs = runs_of(campaign(2, {"a", "b"}));
  EXPECT_THAT(arms_of(runs, 0, "s"), ElementsAre("a", "b"));
  EXPECT_THAT(arms_of(runs, 1, "s"), ElementsAre("b", "a"));
  EXPECT_THAT(arms_of(runs, 0, "t"), ElementsAre("b", "a")) << "sets begin at different ones";
}

TEST(RunPlan, ArmsThatRunOnceComeLastInTheFirstBlock) {
  Campaign once = campaign(2, {"verify", "a", "b"});
  once.arms[0].once = true;
  once.arms[2].sets = {"t"};
  const auto runs = runs_of(once);
  EXPECT_THAT(arms_of(runs, 0, "s"), ElementsAre("a", "verify"));
  EXPECT_THAT(arms_of(runs, 1, "s"), ElementsAre("a"));
}

TEST(RunPlan, WhatIsDoneIsNotDoneAgain) {
  const auto runs = runs_of(campaign(2, {"a", "b"}));
  EXPECT_EQ(remaining(runs, {}), runs);
  EXPECT_TRUE(remaining(runs, runs).empty());
  const auto left = remaining(runs, {runs[0], runs[3]});
  EXPECT_EQ(left.size(), runs.size() - 2);
  EXPECT_EQ(left.front(), runs[1]);
}

}  // namespace
}  // namespace ahead::lab
