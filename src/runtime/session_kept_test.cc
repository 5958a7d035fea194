// Conversations: a request goes on with the cache that the one before left, and writes what it
// would have written alone. May use: base, compile, kv, plan, GoogleTest.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "compile/fake_model.h"
#include "runtime/session.h"
#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using Tokens = std::vector<std::int32_t>;
using Corner = std::tuple<Schedule, KvPolicy, bool>;

Tokens operator+(Tokens left, const Tokens& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

class KeptCacheTest : public testing::TestWithParam<Corner> {
 protected:
  static World::Options options() {
    const auto& [schedule, kv, cut] = GetParam();
    return {.axes = {.ladder = {16, 32, 64, 128}, .schedule = schedule, .kv = kv}, .cut = cut};
  }
};

std::string name_of_corner(const testing::TestParamInfo<Corner>& info) {
  const auto& [schedule, kv, cut] = info.param;
  return name_of(schedule) + std::to_string(static_cast<int>(kv)) + (cut ? "Cut" : "Whole");
}

INSTANTIATE_TEST_SUITE_P(Session, KeptCacheTest,
                         testing::Combine(testing::Values(Schedule::kEager, Schedule::kOneAhead,
                                                          Schedule::kOnDemand, Schedule::kPlanned),
                                          testing::Values(KvPolicy::kSharedMax, KvPolicy::kCopyGrow,
                                                          KvPolicy::kInPlace),
                                          testing::Bool()),
                         name_of_corner);

TEST_P(KeptCacheTest, TurnsOverTwoBoundariesReadOnlyWhatIsNew) {
  World world(options());
  KeptCache kept;
  Tokens prompt = prompt_of(9);
  std::int64_t read = 0;  // tokens that the cache has
  for (const std::size_t answer : {5U, 20U, 1U, 40U}) {
    const Outcome outcome = world.run(
        {.prompt = prompt, .max_new_tokens = static_cast<std::int64_t>(answer), .kept = &kept});
    ASSERT_EQ(outcome.tokens, FakeModel::generate(prompt, answer));
    EXPECT_EQ(outcome.wrong_logits, 0U);
    EXPECT_EQ(outcome.result.tokens.kept, read);
    // The last token was given out and not read.
    read = static_cast<std::int64_t>(prompt.size() + answer) - 1;
    EXPECT_EQ(kept.tokens.size(), static_cast<std::size_t>(read));
    prompt = prompt + outcome.tokens + Tokens{7, 3, 11};
  }
  EXPECT_EQ(kept.cache->capacity(), 128U);
}

TEST_P(KeptCacheTest, AnotherBeginningGoesBackToWhereTheyPart) {
  World world(options());
  KeptCache kept;
  const Tokens first = prompt_of(30);
  (void)world.run({.prompt = first, .max_new_tokens = 20, .kept = &kept});
  for (const std::size_t common : {40U, 22U, 3U}) {
    Tokens prompt(kept.tokens.begin(), kept.tokens.begin() + static_cast<long>(common));
    prompt.push_back((kept.tokens.at(common) + 1) % 50);
    const Outcome outcome = world.run({.prompt = prompt, .max_new_tokens = 12, .kept = &kept});
    EXPECT_EQ(outcome.tokens, FakeModel::generate(prompt, 12));
    EXPECT_EQ(outcome.wrong_logits, 0U);
    EXPECT_EQ(outcome.result.tokens.kept, static_cast<std::int64_t>(common));
  }
}

TEST_P(KeptCacheTest, TheSamePromptAgainReadsItsLastTokenOnly) {
  World world(options());
  KeptCache kept;
  const Tokens prompt = prompt_of(21);
  const Outcome first = world.run({.prompt = prompt, .max_new_tokens = 4, .kept = &kept});
  const Outcome second = world.run({.prompt = prompt, .max_new_tokens = 4, .kept = &kept});
  EXPECT_EQ(second.tokens, first.tokens);
  EXPECT_EQ(second.result.tokens.kept, 20);
}

TEST_P(KeptCacheTest, AStoppedAnswerLeavesWhatWasRead) {
  World world(options());
  KeptCache kept;
  const Tokens prompt = prompt_of(10);
  const Outcome stopped =
      world.run({.prompt = prompt,
                 .on_token =
                     [](std::size_t tokens) {
                       return tokens == 8 ? std::optional(FinishReason::kCancelled) : std::nullopt;
                     },
                 .kept = &kept});
  const Tokens next = prompt + stopped.tokens + Tokens{1, 2};
  const Outcome outcome = world.run({.prompt = next, .max_new_tokens = 6, .kept = &kept});
  EXPECT_EQ(outcome.tokens, FakeModel::generate(next, 6));
  EXPECT_EQ(outcome.result.tokens.kept, 17);
}

TEST_P(KeptCacheTest, AFullLastRungIsGoneBackFrom) {
  World world(options());
  KeptCache kept;
  (void)world.run({.prompt = prompt_of(100), .kept = &kept});
  EXPECT_EQ(kept.tokens.size(), 128U);
  const Tokens prompt(kept.tokens.begin(), kept.tokens.begin() + 60);
  const Outcome outcome = world.run({.prompt = prompt, .max_new_tokens = 5, .kept = &kept});
  EXPECT_EQ(outcome.tokens, FakeModel::generate(prompt, 5));
  EXPECT_EQ(outcome.result.tokens.kept, 59);
}

TEST(KeptCache, ARingThatCameRoundIsNotGoneBackOver) {
  World world(
      {.axes = {.ladder = {16, 32, 64, 128}, .schedule = Schedule::kOneAhead}, .window = 20});
  const std::size_t block = world.layout().block_rows;
  KeptCache kept;
  (void)world.run({.prompt = prompt_of(60), .max_new_tokens = 30, .kept = &kept});
  const auto beginning = [&](std::size_t tokens) {
    Tokens prompt(kept.tokens.begin(), kept.tokens.begin() + static_cast<long>(tokens));
    prompt.push_back((kept.tokens.at(tokens) + 1) % 50);
    return prompt;
  };
  const std::size_t live = kept.tokens.size();
  const auto expected = [](const Tokens& prompt) {
    FakeModel model(20);
    std::vector<float> logits;
    for (const std::int32_t token : prompt) logits = model.feed(token);
    Tokens made;
    for (int i = 0; i < 5; ++i) {
      made.push_back(FakeModel::greedy(logits));
      logits = model.feed(made.back());
    }
    return made;
  };
  const Tokens near = beginning(live - block);
  EXPECT_EQ(reusable_tokens(kept, near), static_cast<std::int64_t>(live - block));
  const Tokens far = beginning(live - block - 2);
  EXPECT_EQ(reusable_tokens(kept, far), 0);
  const Outcome outcome = world.run({.prompt = near, .max_new_tokens = 5, .kept = &kept});
  EXPECT_EQ(outcome.tokens, expected(near));
  EXPECT_EQ(outcome.wrong_logits, 0U);

  kept = {};
  (void)world.run({.prompt = prompt_of(60), .max_new_tokens = 30, .kept = &kept});
  const Outcome anew = world.run({.prompt = far, .max_new_tokens = 5, .kept = &kept});
  EXPECT_EQ(anew.result.tokens.kept, 0);
  EXPECT_EQ(anew.tokens, expected(far));
}

}  // namespace
}  // namespace ahead::runtime
