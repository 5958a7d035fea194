// Tests of which seeds `ahead sim` runs and what it says. May use: include/ahead,
// GoogleTest.
#include "sim_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "typed_words.h"

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

SimRequest parsed(const std::vector<std::string>& words) {
  SimRequest out;
  read_words(words, [&](CLI::App& command) {
    add_sim_options(command, [&](const SimRequest& request) { out = request; });
  });
  return out;
}

std::string refusal(const std::vector<std::string>& words) {
  return refusal_of([&] { (void)parsed(words); });
}

TEST(SimOptionsTest, ReadsARange) {
  const SimRequest request = parsed({"--seeds", "3..20", "--quiet"});
  EXPECT_EQ(request.first, 3U);
  EXPECT_EQ(request.last, 20U);
  EXPECT_FALSE(request.single);
  EXPECT_TRUE(request.quiet);
}

TEST(SimOptionsTest, ASeedIsDecimalUpToTheLargest) {
  const SimRequest request = parsed({"--seeds", "010..18446744073709551615"});
  EXPECT_EQ(request.first, 10U);
  EXPECT_EQ(request.last, UINT64_MAX);
}

TEST(SimOptionsTest, ReadsOneSeed) {
  const SimRequest request = parsed({"--seed", "17", "--trace", "t.json", "--events"});
  EXPECT_EQ(request.first, 17U);
  EXPECT_EQ(request.last, 17U);
  EXPECT_TRUE(request.single);
  EXPECT_TRUE(request.events);
  EXPECT_EQ(request.trace, "t.json");
}

TEST(SimOptionsTest, RefusesARangeThatIsNone) {
  for (const char* text : {"", "5", "5-7", "1..", "..7", "a..b", "1..2..3", "7..5", "-1..3",
                           "1.5..3", "0x1..3", " 1..3", "1..18446744073709551616"}) {
    EXPECT_THAT(refusal({"--seeds", text}),
                AllOf(HasSubstr("--seeds is '" + std::string(text) + "'"), HasSubstr("1..2000")));
  }
}

TEST(SimOptionsTest, RefusesASeedThatIsNone) {
  for (const char* text : {"", "x", "-1", "1.5", "1..2"}) {
    EXPECT_THAT(refusal({"--seed", text}), HasSubstr("--seed is")) << text;
  }
}

TEST(SimOptionsTest, RefusesNoSeedsAndTwoKinds) {
  EXPECT_THAT(refusal({}), HasSubstr("--seeds A..B"));
  EXPECT_THAT(refusal({"--seeds", "1..2", "--seed", "1"}), HasSubstr("both"));
}

TEST(SimOptionsTest, RefusesToShowManyWorlds) {
  EXPECT_THAT(refusal({"--seeds", "1..2", "--trace", "t.json"}), HasSubstr("--trace"));
  EXPECT_THAT(refusal({"--seeds", "1..2", "--events"}), HasSubstr("--events"));
}

/// Runs seeds of which one fails; 0: none does.
struct Fake {
  std::uint64_t failing = 0;
  std::vector<std::uint64_t> seeds;
  std::string written;
  std::string progress;

  SimulationVerdict run(const SimRequest& request) {
    return run_seeds(request, {.simulate =
                                   [&](const SimulationOptions& options) {
                                     seeds.push_back(options.seed);
                                     return SimulationVerdict{.seed = options.seed,
                                                              .passed = options.seed != failing,
                                                              .invariant = "rung"};
                                   },
                               .write = [&](const std::string& text) { written += text; },
                               .progress = [&](const std::string& text) { progress += text; }});
  }
};

TEST(RunSeedsTest, RunsAllInOrder) {
  Fake fake;
  EXPECT_TRUE(fake.run({.first = 4, .last = 6}).passed);
  EXPECT_EQ(fake.seeds, (std::vector<std::uint64_t>{4, 5, 6}));
  EXPECT_EQ(fake.written, "seeds 4 to 6: all passed\n");
}

TEST(RunSeedsTest, EndsAtTheFirstThatFailsAndSaysHowToSeeIt) {
  Fake fake{.failing = 5};
  EXPECT_FALSE(fake.run({.first = 4, .last = 9, .quiet = true}).passed);
  EXPECT_EQ(fake.seeds.back(), 5U);
  EXPECT_THAT(fake.written, HasSubstr("seed 5: broken: rung"));
  EXPECT_THAT(fake.written, HasSubstr("ahead sim --seed 5"));
}

TEST(RunSeedsTest, TellsHowFarItIsUnlessQuiet) {
  Fake fake;
  (void)fake.run({.first = 1, .last = 20'000});
  EXPECT_EQ(fake.progress, "10000 seeds passed\n");
  Fake quiet;
  (void)quiet.run({.first = 1, .last = 20'000, .quiet = true});
  EXPECT_EQ(quiet.progress + quiet.written, "");
}

TEST(RunSeedsTest, TheLargestSeedIsTheLast) {
  Fake fake;
  (void)fake.run({.first = UINT64_MAX - 1, .last = UINT64_MAX});
  EXPECT_EQ(fake.seeds.size(), 2U);
}

}  // namespace
}  // namespace ahead::cli
