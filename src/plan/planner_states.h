// States that the planner's tests start from. May use: base, GoogleTest.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/planner.h"

namespace ahead::plan {

inline constexpr Estimate kQuick{0.3, 0.4, Source::kMeasured};  // its margin is 1.05 s
inline constexpr Need kPrefill{128, 1024};

inline Need decode(std::int64_t rung) { return {1, rung}; }

/// What the next step needs, there.
inline Candidate in_use(const Need& need) { return {.need = need, .status = Status::kReady}; }

inline Candidate needed_in(double seconds, const Need& need, Status status = Status::kAbsent) {
  return {.need = need, .status = status, .compile = kQuick, .first_use_s = seconds};
}

/// Halves a token of 20 ms over 1000 tokens, after a compile of up to 2 s: saves 9 s.
inline Upgrade halving() {
  return {.program = {.need = {1, 1024, 1, 1}, .compile = {1, 2, Source::kMeasured}},
          .token = {0.01, 0.012, Source::kScaled},
          .token_now = {0.02, 0.025, Source::kMeasured},
          .tokens_left = 1000};
}

inline void expect(const Plan& plan, Action action, std::size_t need, const std::string& reason) {
  EXPECT_EQ(plan.decision.action, action) << plan.decision.reason;
  EXPECT_EQ(plan.decision.need, need) << plan.decision.reason;
  EXPECT_THAT(plan.decision.reason, testing::HasSubstr(reason));
}

}  // namespace ahead::plan
