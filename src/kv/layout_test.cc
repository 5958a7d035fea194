// The block-major layout against its definition. May use: base, GoogleTest.
#include "kv/layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kv/test_rows.h"

namespace ahead::kv {
namespace {

TEST(LayoutTest, BlockIsTheLargestPowerOfTwoThatDividesEveryRung) {
  EXPECT_EQ(block_rows_for({64, 128, 256, 512}), 64U);
  EXPECT_EQ(block_rows_for({1024, 2048, 4096, 8192}), 128U);
  EXPECT_EQ(block_rows_for({48, 96}), 16U);
  EXPECT_EQ(block_rows_for({128}), 128U);
  EXPECT_EQ(block_rows_for({1024, 1536, 1600}), 64U);
  EXPECT_EQ(block_rows_for({1024, 2047}), 1U);
  EXPECT_EQ(block_rows_for({17, 34, 51}), 1U);
  EXPECT_EQ(block_rows_for({18, 36}), 2U);
}

TEST(LayoutTest, BlockKeepsToItsLimit) {
  EXPECT_EQ(block_rows_for({1024, 2048}, 512), 512U);
  EXPECT_EQ(block_rows_for({1024, 2048}, 2048), 1024U);
  EXPECT_EQ(block_rows_for({1024, 2048}, 100), 64U);
  EXPECT_EQ(block_rows_for({1024, 2048}, 1), 1U);
}

TEST(LayoutTest, SizesAndShapesFollowTheLayers) {
  const Layout layout{.layers = {{.kv_heads = 3, .head_dim = 64}, {.kv_heads = 1, .head_dim = 80}},
                      .block_rows = 128,
                      .type = ElementType::kF16};
  EXPECT_EQ(layout.blocks(0), 0U);
  EXPECT_EQ(layout.blocks(1), 1U);
  EXPECT_EQ(layout.blocks(128), 1U);
  EXPECT_EQ(layout.blocks(129), 2U);
  EXPECT_EQ(layout.k_block_bytes(0), 3U * 64 * 128 * 2);
  EXPECT_EQ(layout.k_block_bytes(1), 1U * 80 * 128 * 2);
  EXPECT_EQ(layout.total_bytes(256), 2U * 256 * (3 * 64 + 80) * 2);
  EXPECT_EQ(layout.k_shape(0, 256), (Shape{2, 3, 64, 128}));
  EXPECT_EQ(layout.v_shape(0, 256), (Shape{2, 3, 128, 64}));
  EXPECT_EQ(layout.k_shape(1, 1024), (Shape{8, 1, 80, 128}));
  EXPECT_EQ(layout.v_shape(1, 1024), (Shape{8, 1, 128, 80}));
}

TEST(LayoutTest, HeadsOfVMayBeOfAnotherSizeThanThoseOfK) {
  const Layout layout{.layers = {{.kv_heads = 4, .head_dim = 192, .value_dim = 128}},
                      .block_rows = 128,
                      .type = ElementType::kF16};
  EXPECT_EQ(layout.k_block_bytes(0), 4U * 192 * 128 * 2);
  EXPECT_EQ(layout.v_block_bytes(0), 4U * 128 * 128 * 2);
  EXPECT_EQ(layout.total_bytes(256), 256U * 4 * (192 + 128) * 2);
  EXPECT_EQ(layout.kept_bytes(3), 3U * 4 * (192 + 128) * 2);
  EXPECT_EQ(layout.k_shape(0, 256), (Shape{2, 4, 192, 128}));
  EXPECT_EQ(layout.v_shape(0, 256), (Shape{2, 4, 128, 128}));
}

/// A layer's K and V as they must be after one store into memory full of `kFiller`.
struct Stored {
  std::vector<std::byte> k;
  std::vector<std::byte> v;
};
constexpr std::byte kFiller{0xEE};

Stored naively_stored(const Layout& layout, StoreRange range, const Stored& empty) {
  const std::size_t size = size_of(layout.type);
  Stored result = empty;
  for (std::size_t row = range.first; row < range.first + range.count; ++row) {
    for (std::size_t head = 0; head < layout.layers[range.layer].kv_heads; ++head) {
      for (const Side side : {Side::kK, Side::kV}) {
        for (std::size_t dim = 0; dim < dims_of(layout.layers[range.layer], side); ++dim) {
          const Element at{side, range.layer, row, head, dim};
          const std::uint32_t value = pattern(at, size);
          std::vector<std::byte>& region = side == Side::kK ? result.k : result.v;
          std::memcpy(region.data() + naive_index(layout, at) * size, &value, size);
        }
      }
    }
  }
  return result;
}

TEST(LayoutTest, StoreWritesTheRowsWhereTheDefinitionPutsThemAndNothingElse) {
  const std::vector<LayerShape> shapes = {{1, 1},  {3, 64},    {2, 80},   {5, 7},
                                          {1, 33}, {2, 12, 8}, {1, 3, 70}};
  for (const ElementType type : {ElementType::kF32, ElementType::kF16}) {
    for (const std::size_t block_rows : {1, 2, 16, 128}) {
      const Layout layout{.layers = shapes, .block_rows = block_rows, .type = type};
      const std::size_t capacity = 4 * block_rows;
      const std::vector<StoreRange> ranges = {
          {.first = 0, .count = 0},
          {.first = 0, .count = 1},
          {.first = block_rows - 1, .count = 1},
          {.first = block_rows - 1, .count = 2},
          {.first = 0, .count = block_rows},
          {.first = block_rows, .count = capacity - block_rows},
          {.first = block_rows / 2, .count = 2 * block_rows + 1},
          {.first = 0, .count = capacity},
      };
      for (std::size_t layer = 0; layer < shapes.size(); ++layer) {
        for (StoreRange range : ranges) {
          range.layer = layer;
          const std::size_t blocks = layout.blocks(capacity);
          const Stored empty{std::vector(blocks * layout.k_block_bytes(layer), kFiller),
                             std::vector(blocks * layout.v_block_bytes(layer), kFiller)};
          Stored stored = empty;
          const TestRows rows(layout, range.first, range.count);
          store_rows(layout, {.k = stored.k.data(), .v = stored.v.data()}, range,
                     rows.rows()[layer]);
          const Stored expected = naively_stored(layout, range, empty);
          const auto where = ::testing::Message() << size_of(type) << "-byte elements, "
                                                  << block_rows << " rows a block, layer " << layer
                                                  << ", rows " << range.first << "+" << range.count;
          EXPECT_TRUE(stored.k == expected.k) << "K, " << where;
          EXPECT_TRUE(stored.v == expected.v) << "V, " << where;
        }
      }
    }
  }
}

TEST(LayoutTest, LargerCapacityIsTheSameBytesWithMoreBehindThem) {
  const Layout layout{.layers = {{3, 8}}, .block_rows = 4, .type = ElementType::kF32};
  const TestRows rows(layout, 0, 8);
  std::vector<std::byte> small_k(2 * layout.k_block_bytes(0), kFiller);
  std::vector<std::byte> small_v(small_k);
  std::vector<std::byte> large_k(5 * layout.k_block_bytes(0), kFiller);
  std::vector<std::byte> large_v(large_k);
  store_rows(layout, {small_k.data(), small_v.data()}, {.count = 8}, rows.rows()[0]);
  store_rows(layout, {large_k.data(), large_v.data()}, {.count = 8}, rows.rows()[0]);
  EXPECT_EQ(std::memcmp(small_k.data(), large_k.data(), small_k.size()), 0);
  EXPECT_EQ(std::memcmp(small_v.data(), large_v.data(), small_v.size()), 0);
}

}  // namespace
}  // namespace ahead::kv
