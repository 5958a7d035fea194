// State, decision and reason of every rule of the planner. May use: base, GoogleTest.
#include "plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "plan/planner_states.h"

namespace ahead::plan {
namespace {

using testing::HasSubstr;

// ---- what the next step needs ------------------------------------------------------------------

TEST(PlanNowTest, AFailedProgramEndsTheRequest) {
  const Plan decided =
      plan({.line = {in_use(decode(1024)), needed_in(0, decode(2048), Status::kFailed)},
            .now = 2,
            .busy_s = 1});
  expect(decided, Action::kProceed, 1, "what the next step needs failed: the request ends");
}

TEST(PlanNowTest, WhatIsMissingStarts) {
  const Plan decided = plan({.line = {needed_in(0, kPrefill), needed_in(1, decode(1024))}});
  expect(decided, Action::kStart, 0, "the next step needs it");
  EXPECT_EQ(decided.need, kPrefill);
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 0.3);
}

TEST(PlanNowTest, WhatCompilesIsWaitedFor) {
  const Plan decided = plan({.line = {needed_in(0, kPrefill, Status::kCompiling)}, .busy_s = 0.2});
  expect(decided, Action::kWait, 0, "the next step needs it, in 0.2 s");
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 0.2);
}

TEST(PlanNowTest, ALaterProgramsCompileIsInTheWay) {
  const Plan decided =
      plan({.line = {needed_in(0, kPrefill), needed_in(1, decode(1024), Status::kCompiling)},
            .busy_s = 2});
  expect(decided, Action::kWait, 1, "the next step needs another: in 2.3 s");
  EXPECT_EQ(decided.need, decode(1024));
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 2.3);
}

TEST(PlanNowTest, AnUpgradesCompileIsInTheWay) {
  PlannerState state{.line = {needed_in(0, decode(2048))}, .upgrades = {halving()}, .busy_s = 2};
  state.upgrades[0].program.status = Status::kCompiling;
  const Plan decided = plan(state);
  expect(decided, Action::kWait, 0, "the next step needs another: in 2.3 s");
  EXPECT_TRUE(decided.is_upgrade);
  EXPECT_EQ(decided.need, halving().program.need);
}

TEST(PlanNowTest, AnotherRequestsCompileIsInTheWay) {
  const Plan decided =
      plan({.line = {needed_in(0, kPrefill)}, .busy_s = 5, .other_compiling = true});
  expect(decided, Action::kWaitOther, 0, "another is under way for 5 s");
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 5.3);
}

// ---- the successor -----------------------------------------------------------------------------

TEST(PlanSuccessorTest, StartsWhenItsTimeHasCome) {
  const Plan decided = plan({.line = {in_use(decode(1024)), needed_in(1, decode(2048))}});
  expect(decided, Action::kStart, 1, "needed in 1 s and takes up to 0.4 s");
  EXPECT_EQ(decided.need, decode(2048));
  EXPECT_FALSE(decided.is_upgrade);
  EXPECT_EQ(decided.expected_stall_s, 0);
}

TEST(PlanSuccessorTest, OneThatComesTooLateIsAnExpectedStall) {
  const Plan decided = plan({.line = {in_use(decode(1024)), needed_in(0.1, decode(2048))}});
  expect(decided, Action::kStart, 1, "a stall of about 0.2 s");
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 0.2);
}

TEST(PlanSuccessorTest, WaitsForItsTokenBefore) {
  // 3.25 s, of which 1.05 s are the margin and 0.1 s the step that cannot be interrupted.
  PlannerState state{.line = {in_use(decode(1024)), needed_in(3.25, decode(2048))},
                     .token_s = 0.1,
                     .tokens_done = 991};
  const Plan decided = plan(state);
  expect(decided, Action::kProceed, 0,
         "the successor is needed in 3.2 s and takes up to 0.4 s: it starts at token 1012");
  ASSERT_EQ(decided.until_token, 1012);
  // And so it does, and not a token earlier.
  state.line[1].first_use_s = 3.25 - 0.1 * 20;
  EXPECT_EQ(plan(state).decision.action, Action::kProceed);
  state.line[1].first_use_s = 3.25 - 0.1 * 21;
  EXPECT_EQ(plan(state).decision.action, Action::kStart);
}

TEST(PlanSuccessorTest, ALongStepInBetweenIsReckonedWith) {
  // A chunk of the prompt takes 2 s, and the next question comes behind it.
  PlannerState state{.line = {in_use(kPrefill), needed_in(3, decode(1024))}, .token_s = 0.015};
  EXPECT_EQ(plan(state).decision.action, Action::kProceed);
  state.step_s = 2;
  expect(plan(state), Action::kStart, 1, "needed in 3 s");
}

TEST(PlanSuccessorTest, APromptThatFillsMostOfARungStartsItDuringPrefill) {
  // 1000 of 1024 rows are the prompt's: decoding leaves the rung 24 steps behind it.
  PlannerState state{.line = {in_use(kPrefill), needed_in(0.9, decode(2048))}};
  expect(plan(state), Action::kStart, 1, "needed in 0.9 s");
  // A short prompt does not.
  state.line[1].first_use_s = 18;
  expect(plan(state), Action::kProceed, 0, "needed in 18 s");
}

TEST(PlanSuccessorTest, ThereIsOneAtATime) {
  PlannerState state{.line = {in_use(decode(1024)), needed_in(0.5, decode(2048), Status::kReady),
                              needed_in(0.6, decode(4096))}};
  expect(plan(state), Action::kProceed, 0, "the successor is ready");
  state.line[1].status = Status::kFailed;
  expect(plan(state), Action::kProceed, 0, "the successor failed");
  state.line[1].status = Status::kCompiling;
  state.busy_s = 0.1;
  expect(plan(state), Action::kProceed, 0,
         "one compile at a time: the successor is under way, needed in 0.5 s and ready in 0.1 s");
}

TEST(PlanSuccessorTest, ALateOneIsNotAbandonedForALaterStart) {
  const Plan decided =
      plan({.line = {in_use(decode(1024)), needed_in(1, decode(2048), Status::kCompiling),
                     needed_in(1.2, decode(4096))},
            .busy_s = 9});
  expect(decided, Action::kProceed, 0, "needed in 1 s and ready in 9 s: a stall of about 8 s");
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 8);
}

TEST(PlanSuccessorTest, WaitsBehindAnotherRequestsCompileAndSaysWhatThatCosts) {
  const Plan decided = plan({.line = {in_use(decode(1024)), needed_in(1, decode(2048))},
                             .busy_s = 3,
                             .other_compiling = true});
  expect(decided, Action::kProceed, 0, "another is under way for 3 s");
  EXPECT_THAT(decided.decision.reason, HasSubstr("a stall of about 2.3 s"));
}

TEST(PlanSuccessorTest, TwoRequestsThatShareALadderShareItsPrograms) {
  // Both come to 2048 at about the same time; the first one had it compiled.
  const auto request = [](double seconds, Status status) {
    return PlannerState{.line = {in_use(decode(1024)), needed_in(seconds, decode(2048), status)}};
  };
  EXPECT_EQ(plan(request(0.5, Status::kAbsent)).decision.action, Action::kStart);
  PlannerState second = request(0.6, Status::kCompiling);
  second.busy_s = 0.3;
  expect(plan(second), Action::kProceed, 0, "the successor is under way");
  expect(plan(request(0.6, Status::kReady)), Action::kProceed, 0, "the successor is ready");
}

TEST(PlanSuccessorTest, NothingThatTheTokenLimitKeepsOutOfReachStarts) {
  expect(plan({.line = {in_use(decode(1024))}}), Action::kProceed, 0,
         "the request ends before it could use a further program");
  constexpr double kNever = std::numeric_limits<double>::infinity();
  expect(plan({.line = {in_use(decode(1024)), needed_in(kNever, decode(2048))}}), Action::kProceed,
         0, "the request ends before it could use a further program");
}

TEST(PlanSuccessorTest, StartsOnceTheProgramBeforeItIsInUse) {
  expect(plan({.line = {in_use(decode(1024)), needed_in(0.5, decode(2048))}, .switching = true}),
         Action::kProceed, 0, "once this program is in use");
}

TEST(PlanSuccessorTest, ThatDoesNotFitWaitsUntilItIsNeeded) {
  PlannerState state{.line = {in_use(decode(1024)), needed_in(0.5, decode(2048))},
                     .bytes_free = 120'000'000};
  state.line[1].bytes = 340'000'000;
  Plan decided = plan(state);
  expect(decided, Action::kProceed, 0, "it takes 340 MB, and 120 MB are free");
  EXPECT_DOUBLE_EQ(decided.expected_stall_s, 0.3);
  state.line.erase(state.line.begin());
  expect(plan(state), Action::kStart, 0, "the next step needs it");
}

TEST(PlanDeathTest, ALineWithoutWhatTheNextStepNeedsIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(plan({.line = {in_use(kPrefill)}, .now = 2})), "is in the line");
  EXPECT_DEATH(static_cast<void>(plan({.line = {in_use(kPrefill)}, .now = 0})), "is in the line");
}

}  // namespace
}  // namespace ahead::plan
