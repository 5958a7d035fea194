// Against SciPy (tests/lab/make_references.py) and the published tables, where they can be
// computed again.
#include "lab/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ahead::lab {
namespace {

using Json = nlohmann::json;

void expect_close(double ours, double theirs, const std::string& what) {
  EXPECT_NEAR(ours, theirs, 1e-9 * std::max(1.0, std::abs(theirs))) << what;
}

TEST(Statistics, AgreesWithScipy) {
  const Json references = Json::parse(std::ifstream(AHEAD_SOURCE_DIR "/tests/lab/statistics.json"));
  ASSERT_GE(references.at("cases").size(), 40U);
  for (const Json& wanted : references.at("cases")) {
    const auto a = wanted.at("a").get<std::vector<double>>();
    const auto b = wanted.at("b").get<std::vector<double>>();
    const PairedEffect effect = paired_effect({.a = a, .b = b});
    const std::string what = std::to_string(a.size()) + " pairs";
    expect_close(median(a), wanted.at("median_a"), what);
    expect_close(effect.mean_a, wanted.at("mean_a"), what);
    expect_close(effect.difference, wanted.at("difference"), what);
    EXPECT_EQ(effect.pairs, a.size());
    EXPECT_EQ(effect.interval.has_value(), a.size() > 1);
    if (a.size() < 2) continue;
    expect_close(effect.interval->low, wanted.at("low"), what);
    expect_close(effect.interval->high, wanted.at("high"), what);
    expect_close(*effect.sign_flip_p, wanted.at("p"), what);
    EXPECT_GE(*effect.sign_flip_p, effect.least_p);
  }
}

// N = 5 of the published campaign: its p cannot be below 0.0625, which is why it reports intervals.
TEST(Statistics, TheLeastPOfFivePairsIsThePublishedOne) {
  const std::array<double, 5> a{84, 85, 83, 86, 84};
  const std::array<double, 5> b{65, 66, 64, 66, 65};
  const PairedEffect effect = paired_effect({.a = a, .b = b});
  EXPECT_DOUBLE_EQ(*effect.sign_flip_p, 0.0625);
  EXPECT_DOUBLE_EQ(effect.least_p, 0.0625);
  EXPECT_TRUE(effect.apart());
}

// Of the published means: a difference is told in percent of the first arm's mean.
TEST(Statistics, PercentsOfThePublishedTablesComeOutAgain) {
  const auto percent = [](double from, double to) {
    return paired_effect({.a = std::array{from}, .b = std::array{to}}).percent;
  };
  EXPECT_NEAR(percent(84.29, 65.33), -22.49, 0.005);
  EXPECT_NEAR(percent(232.43, 212.98), -8.37, 0.005);
  EXPECT_NEAR(percent(143.32, 142.94), -0.26, 0.006);
  EXPECT_NEAR(percent(469.7, 319.7), -31.9, 0.05);
  // Three migrations over 8,064 tokens.
  EXPECT_NEAR((277.7 + 317.0 + 449.8) / 8064, 0.1295, 0.00005);
}

TEST(Statistics, EqualArmsAreNotApart) {
  const std::array<double, 4> a{1.0, 1.1, 0.9, 1.05};
  const PairedEffect effect = paired_effect({.a = a, .b = a});
  EXPECT_EQ(effect.difference, 0);
  EXPECT_FALSE(effect.apart());
  EXPECT_DOUBLE_EQ(*effect.sign_flip_p, 1);
}

TEST(Statistics, OnePairHasNoInterval) {
  const PairedEffect effect = paired_effect({.a = std::array{2.0}, .b = std::array{1.0}});
  EXPECT_FALSE(effect.interval);
  EXPECT_FALSE(effect.apart());
  EXPECT_DOUBLE_EQ(effect.percent, -50);
}

TEST(Statistics, APercentOfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(paired_effect({.a = std::array{0.0}, .b = std::array{1.0}}).percent));
}

TEST(Statistics, MemoryIsWeightedByTheTimeItWasHeld) {
  const std::array<Held, 3> held{{{0, 100}, {1, 300}, {3, 200}}};
  EXPECT_DOUBLE_EQ(time_weighted(held, 5), (100 + 2 * 300 + 2 * 200) / 5.0);
  EXPECT_DOUBLE_EQ(time_weighted(std::array<Held, 1>{{{2, 7}}}, 2), 7) << "no time went by";
}

TEST(Statistics, TheMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(spread({3, 1, 2}).most, 3);
}

}  // namespace
}  // namespace ahead::lab
