// What holds for a KV cache under every policy. May use: base, GoogleTest.
#include "kv/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "kv/fake_pages.h"
#include "kv/test_rows.h"

namespace ahead::kv {
namespace {

const std::vector<std::vector<LayerShape>> kModels = {
    {{.kv_heads = 1, .head_dim = 1}},
    {{.kv_heads = 3, .head_dim = 64}, {.kv_heads = 3, .head_dim = 64}},
    {{.kv_heads = 2, .head_dim = 80},
     {.kv_heads = 1, .head_dim = 48},
     {.kv_heads = 5, .head_dim = 7}},
    {{.kv_heads = 2, .head_dim = 8, .ring_rows = 48},
     {.kv_heads = 1, .head_dim = 16},
     {.kv_heads = 1, .head_dim = 5, .ring_rows = 32}},
    {{.kv_heads = 2, .head_dim = 12, .value_dim = 8},
     {.kv_heads = 1, .head_dim = 6, .value_dim = 10, .ring_rows = 48}},
};

struct Case {
  KvPolicy policy = KvPolicy::kSharedMax;
  ElementType type = ElementType::kF32;
  std::size_t model = 0;  ///< index into kModels

  [[nodiscard]] std::string name() const {
    return std::string(policy == KvPolicy::kSharedMax  ? "SharedMax"
                       : policy == KvPolicy::kCopyGrow ? "CopyGrow"
                                                       : "InPlace") +
           (type == ElementType::kF32 ? "F32" : "F16") + "Model" + std::to_string(model);
  }
  friend std::ostream& operator<<(std::ostream& out, const Case& value) {
    return out << value.name();
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const KvPolicy policy : {KvPolicy::kSharedMax, KvPolicy::kCopyGrow, KvPolicy::kInPlace}) {
    for (const ElementType type : {ElementType::kF32, ElementType::kF16}) {
      for (std::size_t model = 0; model < kModels.size(); ++model) {
        cases.push_back({policy, type, model});
      }
    }
  }
  return cases;
}

class KvCacheTest : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t kRows = 16;  // a block

  [[nodiscard]] static KvCache::Options options() {
    return {.layout = {.layers = kModels[GetParam().model],
                       .block_rows = kRows,
                       .type = GetParam().type},
            .first_capacity = 4 * kRows,
            .last_capacity = 32 * kRows};
  }
  std::unique_ptr<KvCache> make() { return make_cache(GetParam().policy, options(), pages_); }

  FakePages pages_;
};

TEST_P(KvCacheTest, StartsEmptyAtTheFirstCapacity) {
  const auto cache = make();
  EXPECT_EQ(cache->capacity(), 4 * kRows);
  EXPECT_EQ(cache->live_rows(), 0U);
  for (std::size_t layer = 0; layer < cache->layout().layers.size(); ++layer) {
    EXPECT_EQ(cache->k(layer).shape, cache->layout().k_shape(layer, 4 * kRows));
    EXPECT_EQ(cache->v(layer).shape, cache->layout().v_shape(layer, 4 * kRows));
    EXPECT_EQ(cache->k(layer).type, GetParam().type);
    for (const TensorView& view : {cache->k(layer), cache->v(layer)}) {
      EXPECT_EQ(load(view.data, 0, size_of(view.type)), 0U);
      EXPECT_EQ(load(view.data, element_count(view.shape) - 1, size_of(view.type)), 0U);
    }
  }
}

TEST_P(KvCacheTest, AppendInPiecesThatCrossBlocksKeepsEveryRow) {
  const auto cache = make();
  std::size_t rows = 0;
  for (const std::size_t piece : {1U, 2U, 15U, 1U, 29U, 0U, 16U}) {
    append_rows(*cache, piece);
    rows += piece;
    EXPECT_EQ(cache->live_rows(), rows);
    EXPECT_EQ(wrong_elements(*cache), 0U) << "after " << rows << " rows";
  }
  EXPECT_EQ(rows, cache->capacity());
}

TEST_P(KvCacheTest, GrowthAtAnyFillKeepsEveryRowBitForBit) {
  for (const std::size_t rows : {0U, 1U, 15U, 16U, 17U, 63U, 64U}) {
    const auto cache = make();
    append_rows(*cache, rows);
    cache->grow(8 * kRows);
    EXPECT_EQ(cache->capacity(), 8 * kRows);
    EXPECT_EQ(cache->live_rows(), rows);
    EXPECT_EQ(wrong_elements(*cache), 0U) << "grown at " << rows << " rows";
    cache->release_old();
    EXPECT_EQ(wrong_elements(*cache), 0U) << "released at " << rows << " rows";
  }
}

TEST_P(KvCacheTest, GrowsRungByRungToTheLastAndIsFilledThere) {
  const auto cache = make();
  append_rows(*cache, 4 * kRows);
  for (const std::size_t capacity : {8 * kRows, 16 * kRows, 32 * kRows}) {
    cache->grow(capacity);
    cache->release_old();
    append_rows(*cache, 1);
    append_rows(*cache, capacity - cache->live_rows());
    EXPECT_EQ(wrong_elements(*cache), 0U) << "at " << capacity;
  }
  for (std::size_t layer = 0; layer < cache->layout().layers.size(); ++layer) {
    EXPECT_EQ(cache->k(layer).shape, cache->layout().k_shape(layer, 32 * kRows));
    EXPECT_EQ(cache->v(layer).shape, cache->layout().v_shape(layer, 32 * kRows));
  }
}

TEST_P(KvCacheTest, OldViewsStayReadableUntilReleased) {
  const auto cache = make();
  append_rows(*cache, 20);
  const TensorView old = cache->k(0);
  cache->grow(8 * kRows);
  append_rows(*cache, 40);
  const std::size_t size = size_of(old.type);
  const Element at{.row = 19};
  EXPECT_EQ(load(old.data, naive_index(cache->layout(), at), size), pattern(at, size));
}

TEST_P(KvCacheTest, LiveBlocksCountEveryLayerAndKAndVApart) {
  const std::vector<LayerShape> layers = options().layout.layers;
  for (const auto& [rows, blocks] :
       {std::pair{0U, 0U}, {1U, 1U}, {16U, 1U}, {17U, 2U}, {64U, 4U}}) {
    const auto cache = make();
    append_rows(*cache, rows);
    std::size_t expected = 0;
    for (const LayerShape& layer : layers) {
      const std::size_t ring = layer.ring_rows == 0 ? blocks : layer.ring_rows / kRows;
      expected += 2 * std::min<std::size_t>(blocks, ring);
    }
    EXPECT_EQ(cache->grow(8 * kRows).live_blocks, expected);
  }
}

TEST_P(KvCacheTest, EveryRefusedCallOfAGrowthLeavesTheCacheAsItWas) {
  // Nothing is refused any more once the n-th call is beyond what a growth makes.
  bool refused = true;
  for (std::size_t n = 1; refused; ++n) {
    const auto cache = make();
    append_rows(*cache, 50);
    const std::size_t held = pages_.held_regions();
    const std::size_t reserved = cache->reserved_bytes();
    const std::size_t before = pages_.allocations() + pages_.commits();
    const void* const data = cache->k(0).data;
    pages_.fail_in(n);
    try {
      cache->grow(8 * kRows);
      refused = false;
      EXPECT_EQ(pages_.allocations() + pages_.commits() - before, n - 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
      const std::string wanted = std::to_string(cache->layout().total_bytes(8 * kRows));
      EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
      EXPECT_EQ(cache->capacity(), 4 * kRows);
      EXPECT_EQ(cache->live_rows(), 50U);
      EXPECT_EQ(cache->k(0).data, data);
      EXPECT_EQ(pages_.held_regions(), held);
      EXPECT_EQ(cache->reserved_bytes(), reserved);
      EXPECT_EQ(wrong_elements(*cache), 0U);
      cache->grow(8 * kRows);  // with memory to be had, it works after all
    }
    pages_.fail_in(0);
    append_rows(*cache, 70);
    EXPECT_EQ(wrong_elements(*cache), 0U);
  }
}

TEST_P(KvCacheTest, EveryFailingAllocationAtConstructionGivesBackTheOthers) {
  const std::size_t regions = 2 * options().layout.layers.size();
  for (std::size_t n = 1; n <= regions; ++n) {
    pages_.fail_in(n);
    try {
      make();
      FAIL() << "allocation " << n << " of " << regions << " was never made";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    }
    EXPECT_EQ(pages_.held_regions(), 0U);
  }
}

TEST_P(KvCacheTest, ReservedIsWhatTheProviderHolds) {
  if (GetParam().policy == KvPolicy::kInPlace) {
    GTEST_SKIP() << "it holds address space; InPlaceTest says what it counts";
  }
  const auto cache = make();
  EXPECT_EQ(cache->reserved_bytes(), pages_.held_bytes());
  append_rows(*cache, 3);
  cache->grow(8 * kRows);
  EXPECT_EQ(cache->reserved_bytes(), pages_.held_bytes());
  EXPECT_EQ(cache->committed_bytes(), pages_.held_bytes());
  cache->release_old();
  EXPECT_EQ(cache->reserved_bytes(), pages_.held_bytes());
  EXPECT_EQ(cache->committed_bytes(), pages_.held_bytes());
}

TEST_P(KvCacheTest, UnreleasedOldMemoryIsGivenBackByTheNextGrowthAndAtTheEnd) {
  if (GetParam().policy == KvPolicy::kInPlace) {
    GTEST_SKIP() << "it replaces nothing";
  }
  {
    const auto cache = make();
    cache->grow(8 * kRows);
    cache->grow(16 * kRows);
    EXPECT_LE(cache->reserved_bytes(), cache->layout().total_bytes((32 + 8) * kRows));
    EXPECT_EQ(cache->reserved_bytes(), pages_.held_bytes());
  }
  EXPECT_EQ(pages_.held_regions(), 0U);
}

using KvCacheDeathTest = KvCacheTest;

TEST_P(KvCacheDeathTest, RowsBeyondTheCapacityAreABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto cache = make();
  append_rows(*cache, 4 * kRows - 1);
  EXPECT_DEATH(append_rows(*cache, 2), "fit the KV cache's capacity");
}

TEST_P(KvCacheDeathTest, CapacityThatCannotBeIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto cache = make();
  EXPECT_DEATH(cache->grow(4 * kRows), "grows to more than it has");
  EXPECT_DEATH(cache->grow(33 * kRows), "no more than its last capacity");
  EXPECT_DEATH(cache->grow(5 * kRows + 1), "whole number of blocks");
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) { return info.param.name(); }

INSTANTIATE_TEST_SUITE_P(Policies, KvCacheTest, ::testing::ValuesIn(all_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Policies, KvCacheDeathTest,
                         ::testing::Values(Case{.policy = KvPolicy::kCopyGrow, .model = 1}),
                         case_name);

}  // namespace
}  // namespace ahead::kv
