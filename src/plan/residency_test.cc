// What stays in memory and what is let go. May use: base, GoogleTest.
#include "plan/residency.h"

#include <gtest/gtest.h>

namespace ahead::plan {
namespace {

using Rungs = std::vector<std::int64_t>;

TEST(ResidencyTest, TheCurrentRungAndItsSuccessorStay) {
  EXPECT_EQ(rungs_to_drop({.resident = {16, 32, 64}, .in_use = {32}, .successor = 64}), Rungs{16});
}

TEST(ResidencyTest, WhatWasLeftGoesAlsoBeforeItsRoomIsNeeded) {
  EXPECT_EQ(rungs_to_drop({.resident = {16, 32}, .in_use = {32}, .successor = 64}), Rungs{16});
  EXPECT_EQ(rungs_to_drop({.resident = {64, 128}, .in_use = {128}}), Rungs{64});
}

TEST(ResidencyTest, AnEarlierRequestsLastRungGoes) {
  EXPECT_EQ(rungs_to_drop({.resident = {16, 128}, .in_use = {16}, .successor = 32}), Rungs{128});
}

TEST(ResidencyTest, ALargerLimitKeepsTheLowest) {
  const Residency residency{
      .resident = {16, 32, 64, 128}, .in_use = {64}, .successor = 128, .limit = 3};
  EXPECT_EQ(rungs_to_drop(residency), Rungs{32});
}

TEST(ResidencyTest, EveryRungInUseStaysWhateverTheLimit) {
  EXPECT_EQ(rungs_to_drop(
                {.resident = {16, 32, 64, 128}, .in_use = {16, 64}, .successor = 128, .limit = 1}),
            Rungs{32});
}

TEST(ResidencyTest, WhatIsAheadStaysWhereAllWasCompiledBefore) {
  EXPECT_EQ(
      rungs_to_drop(
          {.resident = {16, 32, 64, 128}, .in_use = {32}, .successor = 64, .keep_ahead = true}),
      Rungs{16});
}

TEST(ResidencyTest, ARungIsCountedOnce) {
  EXPECT_TRUE(rungs_to_drop({.resident = {16, 16, 32}, .in_use = {16}, .successor = 32}).empty());
}

}  // namespace
}  // namespace ahead::plan
