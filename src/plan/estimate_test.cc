// Samples to estimates, and first guesses. May use: base, GoogleTest.
#include "plan/estimate.h"

#include <gtest/gtest.h>

#include <array>

namespace ahead::plan {
namespace {

TEST(EstimateTest, IsTheMedianAndThriceTheMedianDistance) {
  const Estimate estimate = estimate_from(std::array{1.0, 1.4, 1.2, 1.0, 1.6});
  EXPECT_DOUBLE_EQ(estimate.typical_s, 1.2);
  EXPECT_DOUBLE_EQ(estimate.late_s, 1.2 + 3 * 0.2);
  EXPECT_EQ(estimate.source, Source::kMeasured);
}

TEST(EstimateTest, OfAnEvenNumberTakesTheMiddleOfTheTwo) {
  EXPECT_DOUBLE_EQ(estimate_from(std::array{1.0, 4.0, 2.0, 3.0}).typical_s, 2.5);
}

TEST(EstimateTest, OneOutlierMovesNeither) {
  const Estimate estimate = estimate_from(std::array{1.0, 1.0, 60.0, 1.0, 1.0});
  EXPECT_DOUBLE_EQ(estimate.typical_s, 1);
  EXPECT_DOUBLE_EQ(estimate.late_s, 1.25);
}

TEST(EstimateTest, IsAQuarterMoreAtTheLatestWhereAllAgree) {
  EXPECT_DOUBLE_EQ(estimate_from(std::array{2.0, 2.0, 2.0}).late_s, 2.5);
}

TEST(EstimateTest, OfFewSamplesTheLargestIsTypical) {
  const Estimate estimate = estimate_from(std::array{1.0, 3.0});
  EXPECT_DOUBLE_EQ(estimate.typical_s, 3);
  EXPECT_DOUBLE_EQ(estimate.late_s, 6);
}

TEST(EstimateTest, ScaledIsWiderAndSaysSo) {
  const Estimate estimate = scaled({2, 3, Source::kMeasured}, 2);
  EXPECT_EQ(estimate, (Estimate{4, 9, Source::kScaled}));
}

TEST(EstimateTest, AScaledGuessStaysAGuess) {
  EXPECT_EQ(scaled({2, 3, Source::kGuess}, 2).source, Source::kGuess);
}

TEST(GuessTest, OfAWholeDecoderIsAboutASecond) {
  const Estimate guess = guess_compile({.operations = 750, .weight_bytes = 92'000'000});
  EXPECT_GT(guess.typical_s, 0.7);
  EXPECT_LT(guess.typical_s, 1.5);
  EXPECT_DOUBLE_EQ(guess.late_s, 4 * guess.typical_s);
  EXPECT_EQ(guess.source, Source::kGuess);
}

TEST(GuessTest, OfAnAttentionCoversWhatWasMeasured) {
  const Estimate guess = guess_compile({.operations = 20});
  EXPECT_LE(guess.typical_s, 0.1);
  EXPECT_GE(guess.late_s, 0.1);
}

TEST(GuessTest, OfAStepReadsWeightsAndCache) {
  const StepSize one{.weight_bytes = 4'000'000'000, .cache_bytes = 2'000'000'000};
  EXPECT_DOUBLE_EQ(guess_step(one).typical_s, 1.5);
  EXPECT_GE(guess_step(one).late_s, guess_step(one).typical_s);
}

TEST(GuessTest, FurtherTokensOfAStepTakeAnEighthOfTheWeights) {
  const StepSize nine{.weight_bytes = 4'000'000'000, .cache_bytes = 2'000'000'000, .tokens = 9};
  EXPECT_DOUBLE_EQ(guess_step(nine).typical_s, 2.5);
}

TEST(EstimateDeathTest, OfNothingIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(estimate_from({})), "at least one sample");
  EXPECT_DEATH(static_cast<void>(scaled({1, 1}, 0)), "positive factor");
}

}  // namespace
}  // namespace ahead::plan
