// What holds of every decision of the planner, over random states. May use: base, GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "plan/planner.h"

namespace ahead::plan {
namespace {

constexpr int kStates = 50'000;

/// States as a request can meet them: what compiles is one program at most.
class RandomStates {
 public:
  explicit RandomStates(unsigned seed) : random_(seed) {}

  PlannerState next() {
    PlannerState state;
    const std::int64_t line = whole(1, 4);
    const auto programs = static_cast<std::size_t>(line);
    state.now = static_cast<std::size_t>(whole(1, std::min<std::int64_t>(line, 2)));
    double first_use_s = 0;
    for (std::size_t i = 0; i < programs; ++i) {
      if (i >= state.now) first_use_s += seconds(20);
      state.line.push_back(candidate({1, 1024 << i}, i < state.now ? 0 : first_use_s));
      if (i < state.now && chance(0.7)) state.line[i].status = Status::kReady;
    }
    for (std::int64_t i = whole(0, 2); i > 0; --i) {
      state.upgrades.push_back({.program = candidate({1, 1024, 1, i}, 0),
                                .token = step(),
                                .token_now = step(),
                                .tokens_left = whole(0, 4000)});
    }
    if (chance(0.3)) state.bytes_free = whole(-100, 1000) * 1'000'000;
    if (chance(0.4)) compile_something(state);
    state.switching = chance(0.1);
    state.token_s = chance(0.8) ? seconds(0.1) : 0;
    state.step_s = chance(0.2) ? seconds(2) : 0;
    state.tokens_done = whole(0, 8192);
    return state;
  }

  double seconds(double most) { return std::uniform_real_distribution<>(0, most)(random_); }

 private:
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool chance(double of) { return seconds(1) < of; }

  Candidate candidate(const Need& need, double first_use_s) {
    const double typical_s = seconds(4);
    return {.need = need,
            .status = chance(0.7)   ? Status::kAbsent
                      : chance(0.8) ? Status::kReady
                                    : Status::kFailed,
            .compile = {typical_s, typical_s + seconds(4), Source::kMeasured},
            .first_use_s = first_use_s,
            .bytes = chance(0.5) ? 0 : whole(1, 600) * 1'000'000};
  }

  Estimate step() {
    const double typical_s = 0.001 + seconds(0.1);
    return {typical_s, 2 * typical_s, chance(0.3) ? Source::kGuess : Source::kMeasured};
  }

  void compile_something(PlannerState& state) {
    state.busy_s = seconds(5);
    const auto line = static_cast<std::int64_t>(state.line.size());
    const std::int64_t which = whole(0, line + static_cast<std::int64_t>(state.upgrades.size()));
    if (which < line) {
      state.line[static_cast<std::size_t>(which)].status = Status::kCompiling;
    } else if (which > line) {
      state.upgrades[static_cast<std::size_t>(which - line - 1)].program.status =
          Status::kCompiling;
    } else {
      state.other_compiling = true;
    }
  }

  std::mt19937 random_;
};

const Candidate& meant(const PlannerState& state, const Plan& plan) {
  return plan.is_upgrade ? state.upgrades.at(plan.decision.need).program
                         : state.line.at(plan.decision.need);
}

bool all_ready(const PlannerState& state) {
  return std::all_of(state.line.begin(),
                     state.line.begin() + static_cast<std::ptrdiff_t>(state.now),
                     [](const Candidate& need) { return need.status == Status::kReady; });
}

TEST(PlannerPropertyTest, OnlyWhatIsAbsentStartsAndNothingBesideACompile) {
  RandomStates states(1);
  int starts = 0;
  int upgrades = 0;
  for (int i = 0; i < kStates; ++i) {
    const PlannerState state = states.next();
    const Plan decided = plan(state);
    if (decided.decision.action != Action::kStart) continue;
    ++starts;
    upgrades += decided.is_upgrade ? 1 : 0;
    EXPECT_FALSE(state.busy_s);
    EXPECT_EQ(meant(state, decided).status, Status::kAbsent);
    EXPECT_EQ(meant(state, decided).need, decided.need);
    // Behind what the next step needs only its successor.
    EXPECT_TRUE(decided.is_upgrade || decided.decision.need <= state.now);
  }
  EXPECT_GT(starts, kStates / 10) << "the states show the rule";
  EXPECT_GT(upgrades, kStates / 100);
}

TEST(PlannerPropertyTest, ARequestStandsStillOnlyForWhatTheNextStepNeeds) {
  RandomStates states(2);
  int waits = 0;
  for (int i = 0; i < kStates; ++i) {
    const PlannerState state = states.next();
    const Plan decided = plan(state);
    const Action action = decided.decision.action;
    if (action == Action::kProceed) {
      // On with the work, or to the error of one that failed.
      EXPECT_TRUE(all_ready(state) ||
                  state.line.at(decided.decision.need).status == Status::kFailed);
    }
    if (action != Action::kWait && action != Action::kWaitOther) continue;
    ++waits;
    EXPECT_FALSE(all_ready(state));
    EXPECT_EQ(action == Action::kWaitOther, state.other_compiling);
    if (action == Action::kWait) {
      EXPECT_EQ(meant(state, decided).status, Status::kCompiling);
    }
  }
  EXPECT_GT(waits, kStates / 50);
}

TEST(PlannerPropertyTest, TheMemoryLimitIsExceededOnlyByWhatTheNextStepNeeds) {
  RandomStates states(3);
  int limited = 0;
  for (int i = 0; i < kStates; ++i) {
    const PlannerState state = states.next();
    const Plan decided = plan(state);
    if (decided.decision.action != Action::kStart || !state.bytes_free) continue;
    if (!decided.is_upgrade && decided.decision.need < state.now) continue;
    ++limited;
    EXPECT_LE(meant(state, decided).bytes, std::max<std::int64_t>(*state.bytes_free, 0));
  }
  EXPECT_GT(limited, kStates / 100);
}

TEST(PlannerPropertyTest, MoreTimeNeverTurnsWaitingIntoStarting) {
  RandomStates states(4);
  int waiting = 0;
  for (int i = 0; i < kStates; ++i) {
    PlannerState state = states.next();
    const Action before = plan(state).decision.action;
    if (before == Action::kStart || state.line.size() <= state.now) continue;
    ++waiting;
    for (int raise = 0; raise < 4; ++raise) {
      state.line[state.now].first_use_s += states.seconds(5);
      EXPECT_EQ(plan(state).decision.action, before);
    }
  }
  EXPECT_GT(waiting, kStates / 10);
}

TEST(PlannerPropertyTest, TheTokenToWaitForIsTheFirstAtWhichItStarts) {
  RandomStates states(5);
  int promised = 0;
  for (int i = 0; i < kStates; ++i) {
    PlannerState state = states.next();
    const Plan decided = plan(state);
    if (!decided.until_token) continue;
    ++promised;
    ASSERT_GT(*decided.until_token, state.tokens_done);
    const auto tokens = static_cast<double>(*decided.until_token - state.tokens_done);
    const double first_use_s = state.line[state.now].first_use_s;
    const auto starts_at = [&](double token) {
      state.upgrades.clear();
      state.line[state.now].first_use_s = first_use_s - token * state.token_s;
      return plan(state).decision.action == Action::kStart;
    };
    EXPECT_TRUE(starts_at(tokens + 1e-6));
    EXPECT_FALSE(starts_at(tokens - 1 - 1e-6));
    // And that is soon enough by its late estimate, also if the next step came first.
    EXPECT_GE(first_use_s - tokens * state.token_s, state.line[state.now].compile.late_s);
  }
  EXPECT_GT(promised, kStates / 50);
}

TEST(PlannerPropertyTest, EveryDecisionHasAReasonAndABoundedStall) {
  RandomStates states(6);
  for (int i = 0; i < kStates; ++i) {
    const Plan decided = plan(states.next());
    EXPECT_GE(decided.expected_stall_s, 0);
    EXPECT_TRUE(std::isfinite(decided.expected_stall_s));
    EXPECT_FALSE(decided.decision.reason.empty());
  }
}

TEST(PlannerPropertyTest, TheSameStateGivesTheSameDecision) {
  RandomStates first(7);
  RandomStates second(7);
  for (int i = 0; i < 1000; ++i) {
    const Plan a = plan(first.next());
    const Plan b = plan(second.next());
    EXPECT_EQ(a.decision.action, b.decision.action);
    EXPECT_EQ(a.decision.need, b.decision.need);
    EXPECT_EQ(a.decision.reason, b.decision.reason);
  }
}

}  // namespace
}  // namespace ahead::plan
