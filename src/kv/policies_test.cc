// What each KV policy costs: copies, reserved and committed bytes, by count and by the real
// kernel's account. May use: base, GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "kv/fake_pages.h"
#include "kv/kv_cache.h"
#include "kv/test_rows.h"

namespace ahead::kv {
namespace {

constexpr std::size_t kRows = 128;

/// Blocks of these layers are whole pages, so that the kernel's figures are exact.
KvCache::Options options() {
  return {.layout = {.layers = {{.kv_heads = 3, .head_dim = 64}, {.kv_heads = 1, .head_dim = 32}},
                     .block_rows = kRows,
                     .type = ElementType::kF16},
          .first_capacity = 2 * kRows,
          .last_capacity = 8 * kRows};
}

std::size_t bytes_of(std::size_t rows) { return options().layout.total_bytes(rows); }

TEST(SharedMaxTest, HoldsTheLastCapacityFromTheStart) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kSharedMax, options(), pages);
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(8 * kRows));
  EXPECT_EQ(pages.held_bytes(), bytes_of(8 * kRows));
}

TEST(SharedMaxTest, EveryByteIsCommittedFromTheStart) {
  OsPages pages;
  const auto cache = make_cache(KvPolicy::kSharedMax, options(), pages);
  EXPECT_EQ(cache->committed_bytes(), bytes_of(8 * kRows));
}

TEST(SharedMaxTest, GrowthCopiesAndAllocatesNothing) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kSharedMax, options(), pages);
  append_rows(*cache, 2 * kRows);
  const std::size_t allocations = pages.allocations();
  const void* const k = cache->k(1).data;
  const Growth growth = cache->grow(4 * kRows);
  EXPECT_EQ(growth.copied_bytes, 0U);
  EXPECT_EQ(growth.live_blocks, 2U * 2 * 2);
  EXPECT_EQ(pages.allocations(), allocations);
  EXPECT_EQ(cache->k(1).data, k);
  cache->release_old();
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(8 * kRows));
}

TEST(SharedMaxTest, SmallerCapacityIsAPrefixOfTheSameMemory) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kSharedMax, options(), pages);
  const TensorView small = cache->v(0);
  cache->grow(8 * kRows);
  const TensorView large = cache->v(0);
  EXPECT_EQ(small.data, large.data);
  EXPECT_EQ(small.bytes() * 4, large.bytes());
}

/// A layer that keeps three blocks, beside one that keeps all.
KvCache::Options with_ring() {
  KvCache::Options with = options();
  with.layout.layers[0].ring_rows = 3 * kRows;
  return with;
}

TEST(RingTest, ARingCommitsItsBlocksAndNoMoreUnderEveryPolicy) {
  const Layout layout = with_ring().layout;
  const std::size_t block0 = 2 * layout.k_block_bytes(0);
  const std::size_t block1 = 2 * layout.k_block_bytes(1);
  for (const KvPolicy policy : {KvPolicy::kSharedMax, KvPolicy::kCopyGrow, KvPolicy::kInPlace}) {
    OsPages pages;
    const auto cache = make_cache(policy, with_ring(), pages);
    for (std::size_t capacity = 2 * kRows; capacity <= 8 * kRows; capacity += kRows) {
      if (capacity > 2 * kRows) cache->grow(capacity);
      cache->release_old();
      append_rows(*cache, capacity - cache->live_rows());
      EXPECT_EQ(wrong_elements(*cache), 0U);
      const std::size_t blocks = policy == KvPolicy::kSharedMax ? 8 : capacity / kRows;
      EXPECT_EQ(cache->committed_bytes(),
                std::min<std::size_t>(blocks, 3) * block0 + blocks * block1)
          << capacity << " rows";
      EXPECT_EQ(cache->layout().kept_bytes(capacity),
                std::min<std::size_t>(capacity / kRows, 3) * block0 + capacity / kRows * block1);
    }
  }
}

TEST(RingTest, AWholeRingIsNeitherCopiedNorMovedAsTheOthersGrow) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, with_ring(), pages);
  append_rows(*cache, 2 * kRows);
  EXPECT_EQ(cache->grow(3 * kRows).copied_bytes, bytes_of(2 * kRows));
  append_rows(*cache, kRows);
  const void* const ring = cache->k(0).data;
  const Growth growth = cache->grow(8 * kRows);
  EXPECT_EQ(growth.copied_bytes, 3 * 2 * cache->layout().k_block_bytes(1));
  EXPECT_EQ(growth.live_blocks, 2U * (3 + 3));
  EXPECT_EQ(cache->k(0).data, ring);
  cache->release_old();
  EXPECT_EQ(cache->k(0).data, ring);
  append_rows(*cache, 5 * kRows);
  EXPECT_EQ(wrong_elements(*cache), 0U);
}

TEST(CopyGrowTest, HoldsNoMoreThanItsCapacity) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(2 * kRows));
}

TEST(CopyGrowTest, CopiesExactlyTheBlocksThatHoldLiveRows) {
  for (const auto& [rows, blocks] :
       {std::pair{0 * kRows, 0U}, {std::size_t{1}, 1U}, {kRows, 1U}, {kRows + 1, 2U}}) {
    FakePages pages;
    const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
    append_rows(*cache, rows);
    EXPECT_EQ(cache->grow(4 * kRows).copied_bytes, bytes_of(blocks * kRows)) << rows << " rows";
  }
}

TEST(CopyGrowTest, CopiesWholeBlocksAndNothingBehindThem) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
  append_rows(*cache, 1);
  const std::size_t block = options().layout.k_block_bytes(0);
  // As a device's padding might leave them: bytes behind the one live row of K, transposed.
  std::memset(cache->v(0).data, 0x5A, 2 * block);
  cache->grow(4 * kRows);
  const auto* const data = static_cast<const std::byte*>(cache->v(0).data);
  EXPECT_EQ(data[block - 1], std::byte{0x5A});
  EXPECT_EQ(data[block], std::byte{0});
}

TEST(CopyGrowTest, BothSizesCountUntilTheOldIsReleased) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
  append_rows(*cache, 2 * kRows);
  cache->grow(4 * kRows);
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(2 * kRows) + bytes_of(4 * kRows));
  cache->release_old();
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(4 * kRows));
  cache->release_old();
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(4 * kRows));
}

TEST(CopyGrowTest, SecondGrowthFreesWhatTheFirstReplaced) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
  cache->grow(4 * kRows);
  cache->grow(8 * kRows);
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(4 * kRows) + bytes_of(8 * kRows));
}

TEST(CopyGrowTest, CommitsWhatIsWrittenAndNothingThatIsOnlyRead) {
  OsPages pages;
  const auto cache = make_cache(KvPolicy::kCopyGrow, options(), pages);
  EXPECT_EQ(cache->committed_bytes(), 0U);

  append_rows(*cache, kRows);
  EXPECT_EQ(cache->committed_bytes(), bytes_of(kRows));

  cache->grow(8 * kRows);
  EXPECT_EQ(cache->committed_bytes(), 2 * bytes_of(kRows)) << "old and new, live blocks only";
  cache->release_old();
  EXPECT_EQ(cache->committed_bytes(), bytes_of(kRows));
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(8 * kRows));

  // A static graph reads all of the capacity and masks what is not live.
  std::size_t set = 0;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (const TensorView& view : {cache->k(layer), cache->v(layer)}) {
      for (std::size_t i = element_count(view.shape) / 8; i < element_count(view.shape); ++i) {
        set += load(view.data, i, 2);
      }
    }
  }
  EXPECT_EQ(set, 0U);
  EXPECT_EQ(cache->committed_bytes(), bytes_of(kRows));
}

TEST(InPlaceTest, GrowthCopiesMovesAndAllocatesNothing) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  append_rows(*cache, 2 * kRows);
  const std::size_t allocations = pages.allocations();
  const void* const k = cache->k(1).data;
  EXPECT_EQ(cache->grow(8 * kRows).copied_bytes, 0U);
  EXPECT_EQ(pages.allocations(), allocations);
  EXPECT_EQ(cache->k(1).data, k);
  EXPECT_EQ(wrong_elements(*cache), 0U);
}

TEST(InPlaceTest, WhatIsReservedIsWhatTheViewsCover) {
  FakePages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(2 * kRows));
  cache->grow(4 * kRows);
  EXPECT_EQ(cache->reserved_bytes(), bytes_of(4 * kRows));
}

TEST(InPlaceTest, OnlyWrittenRowsAreCommittedAlsoWhenAllAreRead) {
  OsPages pages;
  const auto cache = make_cache(KvPolicy::kInPlace, options(), pages);
  append_rows(*cache, kRows);
  cache->grow(8 * kRows);
  std::size_t sum = 0;
  for (std::size_t layer = 0; layer < options().layout.layers.size(); ++layer) {
    for (const TensorView& view : {cache->k(layer), cache->v(layer)}) {
      const auto* const bytes = static_cast<const unsigned char*>(view.data);
      for (std::size_t i = 0; i < view.bytes(); ++i) sum += bytes[i];
    }
  }
  EXPECT_NE(sum, 0U);
  EXPECT_EQ(cache->committed_bytes(), bytes_of(kRows));
}

}  // namespace
}  // namespace ahead::kv
