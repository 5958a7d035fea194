// Making rows ready to be read ahead of a switch, and pages ready to be written ahead of rows. May
// use: base, GoogleTest.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kv/fake_pages.h"
#include "kv/fault_count.h"
#include "kv/kv_cache.h"
#include "kv/test_rows.h"

namespace ahead::kv {
namespace {

constexpr std::size_t kRows = 128;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kAll = std::size_t{1} << 30U;

/// Blocks of these layers are whole pages.
KvCache::Options options() {
  return {.layout = {.layers = {{.kv_heads = 3, .head_dim = 64}, {.kv_heads = 1, .head_dim = 32}},
                     .block_rows = kRows,
                     .type = ElementType::kF16},
          .first_capacity = 2 * kRows,
          .last_capacity = 8 * kRows};
}

std::size_t bytes_of(std::size_t rows) { return options().layout.total_bytes(rows); }

long faults_of_reading(const KvCache& cache) {
  return faults_of([&] {
    for (std::size_t layer = 0; layer < cache.layout().layers.size(); ++layer) {
      for (const TensorView& view : {cache.k(layer), cache.v(layer)}) {
        read_pages(static_cast<const std::byte*>(view.data), view.bytes(), kPage);
      }
    }
  });
}

TEST(PrefaultTest, GoesOnWhereItStoppedAndTouchesEveryByteOnce) {
  for (const std::size_t budget : {kPage, 3 * kPage, 7 * kPage, kAll}) {
    FakePages pages;
    const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
    std::size_t calls = 1;
    for (; !cache->prefault({.capacity = 4 * kRows, .budget_bytes = budget}); ++calls) {
      EXPECT_EQ(pages.prefaulted_bytes(), calls * budget);
    }
    EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(4 * kRows));
    EXPECT_EQ(calls, (bytes_of(4 * kRows) + budget - 1) / budget);
    EXPECT_TRUE(cache->prefault({.capacity = 4 * kRows, .budget_bytes = budget}));
    EXPECT_TRUE(cache->prefault({.capacity = 2 * kRows, .budget_bytes = budget}));
    EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(4 * kRows)) << "nothing was left to do";
  }
}

TEST(PrefaultTest, ALargerCapacityGoesOnFromASmallerOneAlsoAfterGrowth) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  while (!cache->prefault({.capacity = 2 * kRows, .budget_bytes = 5 * kPage})) {
  }
  EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(2 * kRows));
  EXPECT_FALSE(cache->prefault({.capacity = 4 * kRows, .budget_bytes = 5 * kPage}));
  cache->grow(4 * kRows);
  while (!cache->prefault({.capacity = 8 * kRows, .budget_bytes = 5 * kPage})) {
  }
  EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(8 * kRows));
}

TEST(PrefaultTest, BlocksFullOfLiveRowsAreReadyAlready) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  append_rows(*cache, kRows + 1);
  EXPECT_TRUE(cache->prefault({.capacity = 4 * kRows, .budget_bytes = kAll}));
  EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(3 * kRows));
}

TEST(PrefaultTest, ABudgetBelowAPageIsAPage) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  EXPECT_FALSE(cache->prefault({.capacity = 2 * kRows, .budget_bytes = 0}));
  EXPECT_EQ(pages.prefaulted_bytes(), kPage);
  EXPECT_FALSE(cache->prefault({.capacity = 2 * kRows, .budget_bytes = kPage + 1}));
  EXPECT_EQ(pages.prefaulted_bytes(), 2 * kPage);
}

TEST(PrefaultTest, ABudgetThatEndsWithTheLastByteIsEnough) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  EXPECT_TRUE(cache->prefault({.capacity = 2 * kRows, .budget_bytes = bytes_of(2 * kRows)}));
}

TEST(PrefaultTest, SharedMaxHasNothingToDo) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kSharedMax, options(), pages);
  EXPECT_TRUE(cache->prefault({.capacity = 8 * kRows, .budget_bytes = kPage}));
  EXPECT_EQ(pages.prefaulted_bytes(), 0U);
}

TEST(PrefaultTest, CopyGrowMakesWhatItHoldsReadyAndItsGrowthTheRest) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
  EXPECT_TRUE(cache->prefault({.capacity = 4 * kRows, .budget_bytes = kAll}));
  EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(2 * kRows));
  append_rows(*cache, kRows);
  cache->grow(8 * kRows);
  EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(2 * kRows) + bytes_of(7 * kRows));
  EXPECT_TRUE(cache->prefault({.capacity = 8 * kRows, .budget_bytes = kPage}));
  EXPECT_EQ(pages.prefaulted_bytes(), bytes_of(2 * kRows) + bytes_of(7 * kRows));
}

TEST(PrefaultTest, TheFirstReadsAfterASwitchTakeNoFaultsAndCommitNothing) {
  for (const KvPolicy policy : {KvPolicy::kInPlace, KvPolicy::kCopyGrow}) {
    SCOPED_TRACE(policy == KvPolicy::kInPlace ? "in-place" : "copy-grow");
    OsPages pages;
    const auto cache = make_cache(policy, options(), pages);
    while (!cache->prefault({.capacity = 2 * kRows, .budget_bytes = 3 * kPage})) {
    }
    EXPECT_EQ(cache->committed_bytes(), 0U);
    EXPECT_LT(faults_of_reading(*cache), kFewFaults);
    append_rows(*cache, kRows);
    while (!cache->prefault({.capacity = 8 * kRows, .budget_bytes = 3 * kPage})) {
    }
    cache->grow(8 * kRows);
    cache->release_old();
    EXPECT_LT(faults_of_reading(*cache), kFewFaults);
    EXPECT_EQ(cache->committed_bytes(), bytes_of(kRows));
    EXPECT_EQ(wrong_elements(*cache), 0U);
  }
}

TEST(PrefaultTest, WithoutItTheFirstReadsTakeAFaultAPage) {
  OsPages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  EXPECT_GE(faults_of_reading(*cache), static_cast<long>(bytes_of(2 * kRows) / kPage));
}

/// The kernel's pages, committed by writing alone.
class WrittenPages final : public PageProvider {
 public:
  Region allocate(std::size_t bytes) override { return os_.allocate(bytes); }
  Region reserve(std::size_t bytes) override { return os_.reserve(bytes); }
  void release(Region region) noexcept override { os_.release(region); }
  [[nodiscard]] std::size_t committed_bytes(Region region) const override {
    return os_.committed_bytes(region);
  }

 private:
  OsPages os_;
};

TEST(CommitTest, NoMoreIsCommittedThanWritingRowsWouldBeforeABlocksLastEighth) {
  KvCache::Options odd = options();
  odd.layout.layers = {{.kv_heads = 5, .head_dim = 7}, {.kv_heads = 2, .head_dim = 80}};
  for (const KvCache::Options& chosen : {options(), odd}) {
    for (const KvPolicy policy : {KvPolicy::kInPlace, KvPolicy::kCopyGrow}) {
      OsPages ahead_pages;
      WrittenPages written_pages;
      const auto ahead = make_cache(policy, chosen, ahead_pages);
      const auto written = make_cache(policy, chosen, written_pages);
      for (const std::size_t piece : {1U, 15U, 16U, 1U, 95U, 1U, 127U}) {
        append_rows(*ahead, piece);
        append_rows(*written, piece);
        EXPECT_EQ(ahead->committed_bytes(), written->committed_bytes());
      }
      ahead->grow(4 * kRows);
      written->grow(4 * kRows);
      EXPECT_EQ(ahead->committed_bytes(), written->committed_bytes());
    }
  }
}

TEST(CommitTest, TheLastRowsOfABlockBackTheNextBlocksKSoThatItsFirstRowNeedNot) {
  std::size_t k_block = 0;  // over the layers
  for (std::size_t layer = 0; layer < options().layout.layers.size(); ++layer) {
    k_block += options().layout.k_block_bytes(layer);
  }
  OsPages ahead_pages;
  WrittenPages written_pages;
  const auto ahead = make_cache(KvPolicy::kInPlace, options(), ahead_pages);
  const auto written = make_cache(KvPolicy::kInPlace, options(), written_pages);
  const auto surplus = [&] {
    append_rows(*ahead, 1);
    append_rows(*written, 1);
    return ahead->committed_bytes() - written->committed_bytes();
  };
  append_rows(*ahead, kRows - kRows / 8 - 1);
  append_rows(*written, kRows - kRows / 8 - 1);
  EXPECT_EQ(surplus(), 0U);
  std::size_t before = 0;
  for (std::size_t row = 1; row <= kRows / 8; ++row) {
    const std::size_t now = surplus();
    EXPECT_GE(now, before);
    EXPECT_LE(now - before, 2 * kPage + 2 * k_block / (kRows / 8)) << "an even share";
    before = now;
  }
  EXPECT_EQ(before, k_block);
  EXPECT_EQ(surplus(), 0U) << "the next block was begun by both";
}

}  // namespace
}  // namespace ahead::kv
