// Worlds from seeds: the same seed is the same world, and there are worlds of every kind.
// May use: include/ahead, GoogleTest.
#include "sim/run.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "ahead/simulation.h"

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

TEST(RunTest, EveryFaultStrikesInSomeWorld) {
  std::set<FaultKind> fired;
  for (std::uint64_t seed = 1; seed <= kSeeds && fired.size() < fault_kinds().size(); ++seed) {
    const Scenario scenario = scenario_of(seed);
    if (!scenario.faults.empty()) fired.merge(run(scenario).fired);
  }
  for (const FaultKind kind : fault_kinds()) EXPECT_TRUE(fired.count(kind)) << to_string(kind);
}

TEST(RunTest, RequestsEndInEveryWay) {
  std::set<FinishReason> reasons;
  bool waited_at_boundary = false;
  bool fell_back = false;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run(scenario_of(seed));
    if (!outcome.result.rows.empty()) reasons.insert(outcome.result.finish_reason);
    waited_at_boundary = waited_at_boundary || outcome.result.time_s.boundary_wait > 0;
    fell_back = fell_back || !outcome.result.kv_fallback.empty();
  }
  EXPECT_EQ(reasons, (std::set{FinishReason::kStop, FinishReason::kMaxTokens, FinishReason::kLength,
                               FinishReason::kCancelled, FinishReason::kError}));
  EXPECT_TRUE(waited_at_boundary);
  EXPECT_TRUE(fell_back);
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
