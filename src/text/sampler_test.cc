// Tests of the choice of a token.
#include "text/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "ahead/error.h"

namespace ahead::text {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

std::map<std::int32_t, int> count(Sampler& sampler, const std::vector<float>& logits, int draws) {
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.next(logits)];
  return counts;
}

TEST(Sampler, GreedyTakesTheLargestAndTheLowestIdAmongEquals) {
  Sampler sampler({});
  EXPECT_EQ(sampler.next(std::vector<float>{-2, 3, 1, 3}), 1);
  EXPECT_EQ(sampler.next(std::vector<float>{5, 5, 5}), 0);
  EXPECT_EQ(sampler.next(std::vector<float>{-kInfinity, -7}), 1);
}

TEST(Sampler, BrokenLogitsNameTheirPosition) {
  for (const bool do_sample : {false, true}) {
    Sampler sampler({.do_sample = do_sample});
    EXPECT_EQ(sampler.next(std::vector<float>{-kInfinity, 1}), 1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expect_error(ErrorKind::kDevice, "token 1 are broken: number 2 of 4 is NaN", [&] {
      (void)sampler.next(std::vector<float>{0, 9, nan, 1});
    });
    expect_error(ErrorKind::kDevice, "number 0 of 2 is +infinity", [&] {
      (void)sampler.next(std::vector<float>{kInfinity, 1});
    });
    expect_error(ErrorKind::kDevice, "all are -infinity", [&] {
      (void)sampler.next(std::vector<float>{-kInfinity, -kInfinity});
    });
    expect_error(ErrorKind::kDevice, "there are none", [&] { (void)sampler.next({}); });
  }
}

TEST(Sampler, LogitsOfATokenThatIsChosenElsewhereAreCheckedToo) {
  Sampler sampler({});
  sampler.check(std::vector<float>{0, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_error(ErrorKind::kDevice, "token 1 are broken: number 1 of 2 is NaN", [&] {
    sampler.check(std::vector<float>{0, nan});
  });
  expect_error(ErrorKind::kDevice, "there are none", [&] { sampler.check({}); });
  // Both may be to blame.
  expect_error(ErrorKind::kDevice, "model's file",
               [&] { sampler.check(std::vector<float>{kInfinity}); });
}

TEST(Sampler, OptionsThatCannotBeAreRefusedByName) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {0.0F, -1.0F, kInfinity, nan}) {
    expect_error(ErrorKind::kInvalidArgument, "temperature",
                 [&] { Sampler sampler({.temperature = bad}); });
    expect_error(ErrorKind::kInvalidArgument, "repetition_penalty",
                 [&] { Sampler sampler({.repetition_penalty = bad}); });
  }
  for (const float bad : {0.0F, -0.1F, 1.1F, nan}) {
    expect_error(ErrorKind::kInvalidArgument, "top_p", [&] { Sampler sampler({.top_p = bad}); });
  }
}

TEST(Sampler, TheRepetitionPenaltyMakesSeenTokensLessLikelyWhateverTheirSign) {
  Sampler sampler({.repetition_penalty = 2});
  const std::vector<std::int32_t> prompt = {0, 70000};  // an id beyond the logits does no harm
  sampler.see(prompt);
  EXPECT_EQ(sampler.next(std::vector<float>{4, 3, 1}), 1);           // 2 3 1
  EXPECT_EQ(sampler.next(std::vector<float>{4, 3, 1.9F}), 0);        // 2 1.5 1.9
  EXPECT_EQ(sampler.next(std::vector<float>{-1, -1.5F, -1.8F}), 2);  // -2 -3 -1.8
}

TEST(Sampler, APenaltyCountsAnIdOnce) {
  Sampler sampler({.repetition_penalty = 2});
  const std::vector<std::int32_t> prompt = {0, 0, 0};
  sampler.see(prompt);
  EXPECT_EQ(sampler.next(std::vector<float>{4, 1.5F}), 0);
}

TEST(Sampler, AnExtremePenaltyIsNotTakenForABrokenDevice) {
  Sampler tiny({.repetition_penalty = std::numeric_limits<float>::denorm_min()});
  Sampler huge({.repetition_penalty = std::numeric_limits<float>::max()});
  const std::vector<std::int32_t> prompt = {0, 1};
  tiny.see(prompt);
  huge.see(prompt);
  EXPECT_EQ(tiny.next(std::vector<float>{3, -2}), 0);
  EXPECT_EQ(huge.next(std::vector<float>{-3, -2}), 0);
}

TEST(Sampler, EqualSeedsGiveEqualTokensAndOthersDiffer) {
  std::vector<float> logits(1000);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = std::sin(static_cast<float>(i));
  const auto draw = [&](std::uint64_t seed) {
    Sampler sampler(
        {.do_sample = true, .temperature = 0.8F, .top_k = 200, .top_p = 0.9F, .seed = seed});
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 50; ++i) ids.push_back(sampler.next(logits));
    return ids;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(Sampler, TheStreamOfRandomNumbersIsFixed) {
  // 64 equally likely tokens: the token is the top six bits of the generator, whose 10000th value
  // the C++ standard fixes.
  const std::vector<float> logits(64, 0.0F);
  Sampler sampler({.do_sample = true, .seed = std::mt19937_64::default_seed});
  std::int32_t last = -1;
  for (int i = 0; i < 10000; ++i) last = sampler.next(logits);
  EXPECT_EQ(last, static_cast<std::int32_t>(9981545732273789042ULL >> 58));
}

TEST(Sampler, FrequenciesFollowTheSoftmaxAtATemperature) {
  // At temperature 0.5 these are weights 1 : 4 : 16.
  const std::vector<float> logits = {0, std::log(2.0F), std::log(4.0F)};
  Sampler sampler({.do_sample = true, .temperature = 0.5F, .seed = 1});
  constexpr int kDraws = 21000;
  const auto counts = count(sampler, logits, kDraws);
  EXPECT_NEAR(counts.at(0), 1000, 150);
  EXPECT_NEAR(counts.at(1), 4000, 300);
  EXPECT_NEAR(counts.at(2), 16000, 300);
}

TEST(Sampler, TopKKeepsTheBestAndTheLowestIdsAmongEquals) {
  std::vector<float> logits(5000, 1.0F);
  logits[4000] = 1.5F;
  Sampler sampler({.do_sample = true, .top_k = 3, .seed = 3});
  const auto counts = count(sampler, logits, 2000);
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts.count(0) + counts.count(1) + counts.count(4000), 3U);
}

TEST(Sampler, TopKOfOneAndATinyTemperatureAreGreedy) {
  const std::vector<float> logits = {1, 9, 3, 9};
  Sampler one({.do_sample = true, .top_k = 1});
  Sampler cold({.do_sample = true, .temperature = 1e-30F, .top_k = 3, .top_p = 0.5F});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(one.next(logits), 1);
    EXPECT_EQ(cold.next(logits), 1);
  }
}

TEST(Sampler, TopPKeepsTheFewestWhoseWeightReachesIt) {
  // Weights 0.5, 0.3, 0.15, 0.05, given out of order.
  const std::vector<float> logits = {std::log(0.15F), std::log(0.5F), std::log(0.05F),
                                     std::log(0.3F)};
  const auto kept = [&](float top_p, std::size_t top_k) {
    Sampler sampler({.do_sample = true, .top_k = top_k, .top_p = top_p, .seed = 5});
    return count(sampler, logits, 3000);
  };
  EXPECT_THAT(kept(0.45F, 0), testing::UnorderedElementsAre(testing::Key(1)));
  EXPECT_THAT(kept(0.55F, 0), testing::UnorderedElementsAre(testing::Key(1), testing::Key(3)));
  EXPECT_THAT(kept(0.9F, 0),
              testing::UnorderedElementsAre(testing::Key(0), testing::Key(1), testing::Key(3)));
  // Over the two that top-k leaves the best alone weighs 0.625.
  EXPECT_THAT(kept(0.6F, 2), testing::UnorderedElementsAre(testing::Key(1)));
  EXPECT_NEAR(kept(0.55F, 0).at(1), 3000 * 0.625, 150);
}

}  // namespace
}  // namespace ahead::text
