// State, decision and reason where a faster program could be had. May use: base, GoogleTest.
#include "plan/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/planner_states.h"

namespace ahead::plan {
namespace {

using testing::HasSubstr;

TEST(PlanUpgradeTest, ThatPaysStarts) {
  const Plan decided = plan({.line = {in_use(decode(1024))}, .upgrades = {halving()}});
  expect(decided, Action::kStart, 0,
         "a token takes 10 ms with it and 20 ms now: ready in at most 2 s, it saves 9 s over the "
         "last 900 tokens");
  EXPECT_TRUE(decided.is_upgrade);
  EXPECT_EQ(decided.need, halving().program.need);
}

TEST(PlanUpgradeTest, ThatCannotBeReadyBeforeTheTokenLimitDoesNot) {
  PlannerState state{.line = {in_use(decode(1024))}, .upgrades = {halving()}};
  state.upgrades[0].tokens_left = 100;
  expect(plan(state), Action::kProceed, 0, "it takes up to 2 s, and the 100 tokens left take 2 s");
}

TEST(PlanUpgradeTest, ThatSavesLessThanTwiceItsCostDoesNot) {
  PlannerState state{.line = {in_use(decode(1024))}, .upgrades = {halving()}};
  state.upgrades[0].tokens_left = 120;
  expect(plan(state), Action::kProceed, 0,
         "would not pay: it saves 0.2 s over the last 20 tokens and costs 0.11 s");
}

TEST(PlanUpgradeTest, TwoPercentAreNoReason) {
  PlannerState state{.line = {in_use(decode(1024))}, .upgrades = {halving()}};
  state.upgrades[0].tokens_left = 1'000'000;
  state.upgrades[0].token.typical_s = 0.0196;
  expect(plan(state), Action::kProceed, 0, "would not pay: a token takes 20 ms with it and 20 ms");
}

TEST(PlanUpgradeTest, AGuessAgainstAGuessIsNoReasonUnlessFarApart) {
  PlannerState state{.line = {in_use(decode(1024))}, .upgrades = {halving()}};
  Upgrade& upgrade = state.upgrades[0];
  upgrade.token = {0.015, 0.06, Source::kGuess};
  upgrade.token_now.source = Source::kGuess;
  expect(plan(state), Action::kProceed, 0, "15 ms with it and 20 ms now, and both are guesses");
  upgrade.token.typical_s = 0.013;
  EXPECT_EQ(plan(state).decision.action, Action::kStart);
  upgrade.token = {0.015, 0.02, Source::kMeasured};
  EXPECT_EQ(plan(state).decision.action, Action::kStart);
}

TEST(PlanUpgradeTest, OfSeveralTheOneThatSavesMostStarts) {
  PlannerState state{.line = {in_use(decode(1024))}, .upgrades = {halving(), halving(), halving()}};
  state.upgrades[1].token.typical_s = 0.005;
  state.upgrades[2].program.status = Status::kReady;
  state.upgrades[2].token.typical_s = 0.001;
  expect(plan(state), Action::kStart, 1, "5 ms with it");
}

TEST(PlanUpgradeTest, DoesNotDelayTheSuccessor) {
  // 2.9 s less the margin leave less than the 2 s of the upgrade, which takes longer.
  PlannerState state{.line = {in_use(decode(1024)), needed_in(2.9, decode(2048))},
                     .upgrades = {halving()}};
  const Plan decided = plan(state);
  expect(decided, Action::kStart, 1,
         "before the faster program, which takes up to 2 s: needed in 2.9 s and takes up to 0.4 s");
  EXPECT_FALSE(decided.is_upgrade);
  state.line[1].status = Status::kReady;
  EXPECT_TRUE(plan(state).is_upgrade) << "then it is its turn";
}

TEST(PlanUpgradeTest, ComesFirstWhereTheSuccessorHasTime) {
  expect(
      plan({.line = {in_use(decode(1024)), needed_in(9, decode(2048))}, .upgrades = {halving()}}),
      Action::kStart, 0, "it saves 9 s");
}

TEST(PlanUpgradeTest, ShorterThanTheSuccessorComesFirstWithinItsMargin) {
  PlannerState state{.line = {in_use(decode(1024)), needed_in(11, decode(2048))},
                     .upgrades = {halving()}};
  state.line[1].compile = {4, 5, Source::kMeasured};  // a margin of 10.25 s
  EXPECT_TRUE(plan(state).is_upgrade);
  state.line[1].first_use_s = 10;
  expect(plan(state), Action::kStart, 1, "needed in 10 s");
}

TEST(PlanUpgradeTest, LeavesTheSuccessorItsMemory) {
  PlannerState state{.line = {in_use(decode(1024)), needed_in(9, decode(2048))},
                     .upgrades = {halving()},
                     .bytes_free = 400'000'000};
  state.line[1].bytes = 100'000'000;
  state.upgrades[0].program.bytes = 340'000'000;
  expect(plan(state), Action::kProceed, 0,
         "the faster program does not fit: it takes 340 MB beside the successor's 100 MB, and 400 "
         "MB are free");
  state.bytes_free = 440'000'000;
  EXPECT_TRUE(plan(state).is_upgrade);
}

TEST(PlanUpgradeTest, ThatTakesNoMemoryStartsAlsoBeyondTheLimit) {
  PlannerState state{
      .line = {in_use(decode(1024))}, .upgrades = {halving()}, .bytes_free = -50'000'000};
  EXPECT_TRUE(plan(state).is_upgrade);
  state.upgrades[0].program.bytes = 1;
  EXPECT_EQ(plan(state).decision.action, Action::kProceed);
}

TEST(PlanUpgradeTest, UnderWayIsNotStartedAgain) {
  PlannerState state{.line = {in_use(decode(1024))}, .upgrades = {halving()}, .busy_s = 1.5};
  state.upgrades[0].program.status = Status::kCompiling;
  expect(plan(state), Action::kProceed, 0, "the faster program is under way for 1.5 s");
}

// ---- taking an upgrade up ----------------------------------------------------------------------

Upgrade ready(double token_s, double token_now_s, std::int64_t tokens_left) {
  return {.program = {.status = Status::kReady},
          .token = {.typical_s = token_s, .source = Source::kMeasured},
          .token_now = {.typical_s = token_now_s, .source = Source::kMeasured},
          .tokens_left = tokens_left};
}

TEST(AdoptTest, TakesWhatSavesMoreThanASlowStep) {
  const Adoption adoption = adopt(ready(0.01, 0.02, 100));
  EXPECT_TRUE(adoption.adopt);
  EXPECT_THAT(adoption.reason, HasSubstr("10 ms with it and 20 ms now, with 100 tokens left"));
  EXPECT_THAT(adoption.reason, HasSubstr("saves 1 s"));
}

TEST(AdoptTest, LeavesItForTheLastTokens) {
  EXPECT_TRUE(adopt(ready(0.01, 0.02, 3)).adopt);
  const Adoption adoption = adopt(ready(0.01, 0.02, 1));
  EXPECT_FALSE(adoption.adopt);
  EXPECT_THAT(adoption.reason, HasSubstr("with 1 token left"));
}

TEST(AdoptTest, LeavesWhatIsNotReady) {
  Upgrade upgrade = ready(0.01, 0.02, 100);
  upgrade.program.status = Status::kCompiling;
  EXPECT_FALSE(adopt(upgrade).adopt);
}

TEST(AdoptTest, ThereIsNoWayBackAndForth) {
  EXPECT_TRUE(adopt(ready(0.0200, 0.0210, 100'000)).adopt);
  EXPECT_FALSE(adopt(ready(0.0210, 0.0200, 100'000)).adopt) << "slower";
  EXPECT_FALSE(adopt(ready(0.0196, 0.0200, 100'000)).adopt) << "2 % faster";
}

}  // namespace
}  // namespace ahead::plan
