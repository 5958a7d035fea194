// A KV cache whose page provider fails at every single call in turn: what it says, and what it
// keeps. May use: base, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "ahead/error.h"
#include "kv/fake_pages.h"
#include "kv/kv_cache.h"
#include "kv/test_rows.h"

namespace ahead::kv {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::size_t kRows = 16;
constexpr std::size_t kCapacities[] = {2 * kRows, 4 * kRows, 8 * kRows};

KvCache::Options options() {
  return {.layout = {.layers = {{.kv_heads = 3, .head_dim = 64}, {.kv_heads = 2, .head_dim = 80}},
                     .block_rows = kRows,
                     .type = ElementType::kF32},
          .first_capacity = kCapacities[0],
          .last_capacity = kCapacities[2]};
}

std::string bytes_for(std::size_t rows) {
  return "could not get the " + std::to_string(options().layout.total_bytes(rows)) + " bytes for ";
}

/// What a refusal of memory says; empty when `act` went through.
std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_THAT(error.what(), HasSubstr("the test refused"));
    return error.what();
  }
  return "";
}

/// How often each was refused.
struct Refusals {
  std::size_t constructions = 0;
  std::size_t fallbacks = 0;
  std::size_t growths = 0;
  std::size_t appends = 0;
};

/// Fills `cache` capacity by capacity to its last row, in pieces that begin and end anywhere. What
/// is refused must leave the cache as it was, and is then done again.
void live(KvCache& cache, Refusals& refusals) {
  const auto as_before = [&cache](std::size_t capacity, std::size_t rows) {
    EXPECT_EQ(cache.capacity(), capacity);
    EXPECT_EQ(cache.live_rows(), rows);
    EXPECT_EQ(wrong_elements(cache), 0U);
  };
  for (const std::size_t capacity : kCapacities) {
    if (capacity > cache.capacity()) {
      const std::size_t before = cache.capacity();
      const std::size_t rows = cache.live_rows();
      const std::string refusal = refusal_of([&] { cache.grow(capacity); });
      if (!refusal.empty()) {
        ++refusals.growths;
        EXPECT_THAT(refusal, HasSubstr(bytes_for(capacity)));
        as_before(before, rows);
        cache.grow(capacity);
      }
    }
    for (const std::size_t piece : {1U, 9U, 6U, 16U, 1U, 31U}) {
      const std::size_t rows = cache.live_rows();
      const std::size_t count = std::min(piece, capacity - rows);
      const std::string refusal = refusal_of([&] { append_rows(cache, count); });
      if (refusal.empty()) continue;
      ++refusals.appends;
      EXPECT_THAT(refusal, ContainsRegex("could not get the [1-9][0-9]* bytes for row " +
                                         std::to_string(rows) + " "));
      as_before(capacity, rows);
      append_rows(cache, count);
    }
  }
  as_before(kCapacities[2], kCapacities[2]);
}

/// A cache's whole life, once for every call of the page provider that can fail.
Refusals refuse_each_call(KvPolicy policy) {
  Refusals refusals;
  for (std::size_t n = 1;; ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    FakePages pages;
    pages.fail_in(n);
    std::string fallback;
    std::unique_ptr<KvCache> cache;
    const std::string refusal =
        refusal_of([&] { cache = make_cache(policy, options(), pages, &fallback); });
    if (!refusal.empty()) {
      ++refusals.constructions;
      const bool all_at_once = policy == KvPolicy::kSharedMax;
      EXPECT_THAT(refusal, HasSubstr(bytes_for(kCapacities[all_at_once ? 2 : 0])));
      EXPECT_EQ(pages.held_regions(), 0U);
      continue;
    }
    if (!fallback.empty()) {
      ++refusals.fallbacks;
      EXPECT_THAT(fallback, AllOf(HasSubstr("copied as it grows"), HasSubstr("the test refused"),
                                  HasSubstr(bytes_for(kCapacities[2]))));
    }
    live(*cache, refusals);
    cache.reset();
    EXPECT_EQ(pages.held_regions(), 0U);
    if (pages.failure_due()) return refusals;  // there is no n-th call
  }
}

// Two layers' K and V are four regions.

TEST(KvFaultsTest, SharedMaxIsRefusedBeforeItsFirstRowOrNever) {
  const Refusals refusals = refuse_each_call(KvPolicy::kSharedMax);
  EXPECT_EQ(refusals.constructions, 2U * 4) << "each region, and its pages";
  EXPECT_EQ(refusals.growths + refusals.appends + refusals.fallbacks, 0U);
}

TEST(KvFaultsTest, CopyGrowSurvivesEveryRefusedGrowthAndRow) {
  const Refusals refusals = refuse_each_call(KvPolicy::kCopyGrow);
  EXPECT_EQ(refusals.constructions, 4U);
  EXPECT_EQ(refusals.growths, 2U * (4 + 4)) << "each region, and each copy";
  EXPECT_GT(refusals.appends, 4U * 8);
  EXPECT_EQ(refusals.fallbacks, 0U);
}

TEST(KvFaultsTest, InPlaceFallsBackOrSurvivesEveryRefusedRow) {
  const Refusals refusals = refuse_each_call(KvPolicy::kInPlace);
  EXPECT_EQ(refusals.fallbacks, 4U);
  EXPECT_GT(refusals.appends, 4U * 8);
  EXPECT_EQ(refusals.growths + refusals.constructions, 0U);
}

/// Has nothing to give.
class NoPages final : public PageProvider {
 public:
  Region allocate(std::size_t bytes) override {
    throw Error(ErrorKind::kOutOfMemory, "the test refused " + std::to_string(bytes) + " bytes");
  }
  Region reserve(std::size_t bytes) override { return allocate(bytes); }
  void release(Region /*region*/) noexcept override {}
  [[nodiscard]] std::size_t committed_bytes(Region /*region*/) const override { return 0; }
};

TEST(KvFaultsTest, AFallbackThatIsRefusedTooIsAnErrorWithItsOwnBytes) {
  NoPages pages;
  std::string fallback;
  const std::string refusal = refusal_of(
      [&] { static_cast<void>(make_cache(KvPolicy::kInPlace, options(), pages, &fallback)); });
  EXPECT_THAT(refusal, HasSubstr(bytes_for(kCapacities[0])));
}

TEST(KvFaultsTest, InPlaceThatMayNotFallBackIsAnErrorWithTheBytesOfTheLastRung) {
  NoPages pages;
  const std::string refusal =
      refusal_of([&] { static_cast<void>(make_cache(KvPolicy::kInPlace, options(), pages)); });
  EXPECT_THAT(refusal, HasSubstr(bytes_for(kCapacities[2])));
}

}  // namespace
}  // namespace ahead::kv
