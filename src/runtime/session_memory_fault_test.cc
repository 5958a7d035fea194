// A session whose page provider fails at every single call in turn: what it keeps, and what it
// says. May use: base, compile, kv, plan, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::size_t kLastRung = 64;

World::Options with(KvPolicy policy) {
  return {.axes = {.ladder = {16, 32, kLastRung}, .kv = policy}};
}

/// How often a run ended in each way.
struct Endings {
  std::size_t thrown = 0;     ///< before the first token
  std::size_t in_error = 0;   ///< after it
  std::size_t fallbacks = 0;  ///< in all its tokens: another policy was taken
  std::size_t unharmed = 0;   ///< in all its tokens: what was refused was no more than a favour
};

/// A request to the last rung, once for every call of the page provider that can fail.
Endings refuse_each_call(KvPolicy policy, const std::vector<std::int32_t>& prompt) {
  // The last token has no row.
  const std::size_t all = kLastRung - prompt.size() + 1;
  Endings endings;
  for (std::size_t n = 1;; ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    World world(with(policy));
    world.pages.fake.fail_in(n);
    std::size_t accepted = 0;
    std::optional<Outcome> outcome;
    try {
      outcome = world.run({.prompt = prompt, .on_token = [&](std::size_t tokens) {
                             accepted = tokens;
                             return std::optional<FinishReason>();
                           }});
    } catch (const Error& error) {
      ++endings.thrown;
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("the test refused"),
                                      ContainsRegex("could not get the [1-9][0-9]* bytes")));
      EXPECT_EQ(accepted, 0U) << "tokens that the caller has are no reason to throw";
    }
    EXPECT_EQ(world.pages.fake.held_regions(), 0U);
    if (world.pages.fake.failure_due()) {  // there is no n-th call
      EXPECT_TRUE(outcome);
      EXPECT_EQ(outcome->tokens, FakeModel::generate(prompt, all));
      return endings;
    }
    if (outcome) {
      const RunResult& result = outcome->result;
      EXPECT_EQ(outcome->wrong_logits, 0U);
      EXPECT_EQ(outcome->tokens, FakeModel::generate(prompt, outcome->tokens.size()));
      if (result.finish_reason == FinishReason::kError) {
        ++endings.in_error;
        EXPECT_THAT(result.error, AllOf(HasSubstr("the test refused"),
                                        ContainsRegex("could not get the [1-9][0-9]* bytes")));
        EXPECT_LT(outcome->tokens.size(), all);
        EXPECT_FALSE(outcome->tokens.empty());
      } else {
        EXPECT_EQ(result.finish_reason, FinishReason::kLength);
        EXPECT_EQ(outcome->tokens.size(), all);
        ++(result.kv_fallback.empty() ? endings.unharmed : endings.fallbacks);
        if (!result.kv_fallback.empty()) {
          EXPECT_THAT(result.kv_fallback,
                      AllOf(HasSubstr("copied as it grows"), ContainsRegex("[1-9][0-9]* bytes")));
        }
      }
    }
    // Memory that was short once is no verdict on the next request.
    const Outcome next = world.run({.prompt = prompt});
    EXPECT_EQ(next.tokens, FakeModel::generate(prompt, all));
  }
}

constexpr std::size_t kRegions = 2 * FakeModel::kLayers;

TEST(RefusedMemoryTest, SharedMaxThrowsBeforeTheFirstTokenOrRunsToTheEnd) {
  const Endings endings = refuse_each_call(KvPolicy::kSharedMax, prompt_of(4));
  EXPECT_EQ(endings.thrown, 2 * kRegions) << "each region, and its pages";
  EXPECT_EQ(endings.in_error + endings.fallbacks + endings.unharmed, 0U);
}

TEST(RefusedMemoryTest, CopyGrowKeepsTheTokensBeforeEveryRefusal) {
  const Endings endings = refuse_each_call(KvPolicy::kCopyGrow, prompt_of(4));
  EXPECT_GE(endings.thrown, kRegions);
  EXPECT_GE(endings.in_error, 2 * kRegions) << "two boundaries";
  EXPECT_EQ(endings.fallbacks, 0U);
}

TEST(RefusedMemoryTest, CopyGrowThrowsWhereAPromptOutgrowsARung) {
  const Endings endings = refuse_each_call(KvPolicy::kCopyGrow, prompt_of(40));
  EXPECT_GE(endings.thrown, 2 * kRegions);
}

TEST(RefusedMemoryTest, InPlaceFallsBackWhereAddressSpaceIsRefused) {
  for (const std::size_t prompt : {4U, 40U}) {
    const Endings endings = refuse_each_call(KvPolicy::kInPlace, prompt_of(prompt));
    EXPECT_EQ(endings.fallbacks, kRegions);
  }
}

}  // namespace
}  // namespace ahead::runtime
