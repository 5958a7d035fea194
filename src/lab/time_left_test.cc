// Time left, from what is known best of each run.
#include "lab/time_left.h"

#include <gtest/gtest.h>

namespace ahead::lab {
namespace {

TEST(TimeLeft, IsOfTheSameArmAndSetWhereThatRan) {
  const std::vector<TimedRun> made{{{0, "s", "a"}, 10}, {{1, "s", "a"}, 14}, {{0, "s", "b"}, 2}};
  EXPECT_FALSE(time_left({{0, "s", "a"}}, {}));
  EXPECT_DOUBLE_EQ(*time_left({{2, "s", "a"}}, made), 12);
  EXPECT_DOUBLE_EQ(*time_left({{0, "t", "b"}}, made), 2) << "its arm, in another set";
  EXPECT_DOUBLE_EQ(*time_left({{0, "s", "c"}}, made), 10) << "its set";
  EXPECT_DOUBLE_EQ(*time_left({{0, "t", "c"}}, made), 10) << "all";
  EXPECT_DOUBLE_EQ(*time_left({{2, "s", "a"}, {1, "s", "b"}}, made), 14);
  EXPECT_DOUBLE_EQ(*time_left({}, made), 0);
}

}  // namespace
}  // namespace ahead::lab
