// Worlds from seeds: the same seed is the same world, and there are worlds of every kind.
// May use: include/ahead, GoogleTest.
#include "sim/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "ahead/simulation.h"
#include "sim/coverage.h"

namespace ahead::sim {
namespace {

constexpr std::uint64_t kSeeds = 2000;

TEST(RunTest, TheSameSeedIsTheSameWorld) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outcome one = run(scenario_of(seed));
    const Outcome other = run(scenario_of(seed));
    ASSERT_FALSE(one.events.empty());
    EXPECT_EQ(one.events, other.events) << "seed " << seed;
  }
}

TEST(RunTest, AnotherSeedIsAnotherWorld) {
  EXPECT_NE(run(scenario_of(1)).events, run(scenario_of(2)).events);
}

TEST(RunTest, TimeNeverGoesBack) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    TimePoint last{0};
    for (const Event& event : run(scenario_of(seed)).events) {
      ASSERT_GE(event.at, last) << "seed " << seed << ": " << to_string(event);
      last = event.at;
    }
  }
}

TEST(CoverageTest, WhatNoWorldShowedIsNamed) {
  Coverage coverage;
  EXPECT_EQ(coverage.missing().size(), fault_kinds().size() + 8);
  Outcome outcome;
  outcome.fired = {FaultKind::kCompileRaces};
  outcome.helped_parts = 1;
  outcome.result.rows.resize(1);
  outcome.result.finish_reason = FinishReason::kLength;
  coverage.add(outcome);
  const auto missing = coverage.missing();
  EXPECT_EQ(missing.size(), fault_kinds().size() + 5);
  EXPECT_THAT(missing, testing::Contains("end: cancelled"));
  EXPECT_THAT(missing, testing::Contains("a wait at a boundary"));
  EXPECT_THAT(missing, testing::Not(testing::Contains("fault: compile races its boundary")));
  EXPECT_THAT(missing, testing::Not(testing::Contains("a part that the helper compiled")));
}

TEST(ScenarioTest, EveryValueOfEveryAxisOccurs) {
  std::map<std::string, std::int64_t> seen;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario = scenario_of(seed);
    ++seen[std::string(to_string(scenario.axes.schedule))];
    ++seen[std::string(to_string(scenario.axes.kv))];
    ++seen[to_string(scenario.axes.partition)];
    ++seen["rungs " + std::to_string(scenario.axes.ladder.size())];
    for (const RequestScenario& request : scenario.requests) {
      ++seen["batch " + std::to_string(request.prompts.size())];
    }
  }
  for (const Schedule schedule : schedules()) {
    EXPECT_GT(seen[std::string(to_string(schedule))], 100) << to_string(schedule);
  }
  for (const KvPolicy policy : kv_policies()) EXPECT_GT(seen[std::string(to_string(policy))], 100);
  for (const char* other :
       {"whole", "blocks:1", "attention", "rungs 1", "rungs 5", "batch 1", "batch 3"}) {
    EXPECT_GT(seen[other], 100) << other;
  }
}

TEST(ScenarioTest, LaddersAndPromptsAreThoseARequestMayHave) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario = scenario_of(seed);
    ASSERT_NO_THROW(check_ladder(scenario.axes.ladder, 256)) << "seed " << seed;
    for (const RequestScenario& request : scenario.requests) {
      ASSERT_GT(request.max_new_tokens, 0);
      for (const auto& prompt : request.prompts) {
        ASSERT_GE(prompt.size(), 1U);
        ASSERT_LE(prompt.size(), static_cast<std::size_t>(scenario.axes.ladder.back()));
      }
    }
  }
}

TEST(SimulateTest, TellsOfEventsWhenAsked) {
  EXPECT_TRUE(simulate({.seed = 3}).events.empty());
  const SimulationVerdict verdict = simulate({.seed = 3, .keep_events = true});
  EXPECT_FALSE(verdict.events.empty());
  EXPECT_FALSE(verdict.result.trace.empty());
  EXPECT_NE(to_string(verdict).find("seed 3: passed"), std::string::npos);
}

TEST(SimulateTest, AFailureNamesSeedRuleTimeAndReplay) {
  const std::string text = to_string(SimulationVerdict{
      .seed = 17, .invariant = "rung", .at_s = 0.25, .detail = "why", .scenario = "which"});
  for (const char* part :
       {"seed 17", "rung", "0.250000 s", "why", "which", "ahead sim --seed 17"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

}  // namespace
}  // namespace ahead::sim
