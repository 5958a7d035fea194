// The pages an append names, against the pages its rows lie in by the layout's definition. May use:
// base, GoogleTest.
#include "kv/row_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "kv/test_rows.h"

namespace ahead::kv {
namespace {

constexpr std::size_t kRows = 128;
using Pages = std::set<std::size_t>;

Layout layout_of(LayerShape shape, ElementType type) {
  return {.layers = {shape}, .block_rows = kRows, .type = type};
}

/// The pages that hold an element of `rows`.
Pages pages_of(const Layout& layout, StoreRange rows, Side side, std::size_t page) {
  Pages pages;
  const std::size_t size = size_of(layout.type);
  for (std::size_t row = rows.first; row < rows.first + rows.count; ++row) {
    for (std::size_t head = 0; head < layout.layers[0].kv_heads; ++head) {
      for (std::size_t dim = 0; dim < dims_of(layout.layers[0], side); ++dim) {
        pages.insert(naive_index(layout, {.side = side, .row = row, .head = head, .dim = dim}) *
                     size / page);
      }
    }
  }
  return pages;
}

Pages pages_in(const std::vector<Range>& ranges, std::size_t page) {
  Pages pages;
  for (const Range& range : ranges) {
    for (std::size_t at = range.begin; at < range.begin + range.bytes; at += page) {
      pages.insert(at / page);
    }
  }
  return pages;
}

bool contains(const Pages& all, const Pages& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

TEST(RowPagesTest, WhatIsNamedIsWhatTheRowsTouchWhateverThePieces) {
  for (const LayerShape shape : {LayerShape{3, 64}, LayerShape{1, 32}, LayerShape{2, 80},
                                 LayerShape{5, 7}, LayerShape{2, 96, 64}, LayerShape{1, 24, 40}}) {
    for (const ElementType type : {ElementType::kF32, ElementType::kF16}) {
      const Layout layout = layout_of(shape, type);
      const std::size_t page = 4096;
      const PageGrid grid{.page_bytes = page,
                          .k_bytes = 4 * layout.k_block_bytes(0),
                          .v_bytes = 4 * layout.v_block_bytes(0)};
      Pages named_k;
      Pages named_v;
      std::size_t rows = 0;
      for (const std::size_t piece : {1U, 15U, 1U, 100U, 11U, 128U, 3U, 200U, 1U, 1U, 51U}) {
        const StoreRange range{.first = rows, .count = piece};
        const RowPages pages = first_touched(layout, range, grid);
        for (const auto& [ranges, side, named] :
             {std::tuple(&pages.k, Side::kK, &named_k), std::tuple(&pages.v, Side::kV, &named_v)}) {
          const Pages touched = pages_of(layout, range, side, page);
          const Pages now = pages_in(*ranges, page);
          EXPECT_TRUE(contains(touched, now)) << "names a page that is not written";
          named->insert(now.begin(), now.end());
          EXPECT_TRUE(contains(*named, touched)) << "a page is written that was never named";
        }
        rows += piece;
      }
      EXPECT_EQ(rows, 4 * kRows);
    }
  }
}

TEST(RowPagesTest, ARowAmongWrittenPagesNamesNone) {
  const Layout layout = layout_of({3, 64}, ElementType::kF32);
  const PageGrid grid{.page_bytes = 4096,
                      .k_bytes = 4 * layout.k_block_bytes(0),
                      .v_bytes = 4 * layout.v_block_bytes(0)};
  for (std::size_t row = 1; row < 2 * kRows; ++row) {
    const RowPages pages = first_touched(layout, {.first = row, .count = 1}, grid);
    EXPECT_EQ(pages.k.size(), row == kRows ? 1U : 0U) << row;
    // 16 rows of one head make a page.
    EXPECT_EQ(pages.v.size(), row % 16 == 0 ? 3U : 0U) << row;
    EXPECT_EQ(pages.bytes(),
              pages.k.size() * layout.k_block_bytes(0) + pages.v.size() * grid.page_bytes);
  }
}

TEST(RowPagesTest, ARingThatComesRoundTouchesNothingFirst) {
  const Layout layout =
      layout_of({.kv_heads = 3, .head_dim = 64, .ring_rows = 2 * kRows}, ElementType::kF32);
  const PageGrid grid{.page_bytes = 4096,
                      .k_bytes = 2 * layout.k_block_bytes(0),
                      .v_bytes = 2 * layout.v_block_bytes(0)};
  EXPECT_EQ(first_touched(layout, {.first = 2 * kRows, .count = kRows}, grid).bytes(), 0U);
  EXPECT_EQ(first_touched(layout, {.first = 5 * kRows - 1, .count = 3 * kRows}, grid).bytes(), 0U);
  // What goes beyond the end before it is reached touches as much as what ends there.
  EXPECT_EQ(first_touched(layout, {.first = kRows, .count = 2 * kRows}, grid).bytes(),
            first_touched(layout, {.first = kRows, .count = kRows}, grid).bytes());
}

TEST(RowPagesTest, WholeBlocksAreOneRange) {
  const Layout layout = layout_of({3, 64}, ElementType::kF16);
  const std::size_t block = layout.k_block_bytes(0);
  const RowPages pages =
      first_touched(layout, {.first = kRows, .count = 2 * kRows},
                    {.page_bytes = 4096, .k_bytes = 8 * block, .v_bytes = 8 * block});
  for (const auto& ranges : {pages.k, pages.v}) {
    ASSERT_EQ(ranges.size(), 1U);
    EXPECT_EQ(ranges[0].begin, block);
    EXPECT_EQ(ranges[0].bytes, 2 * block);
  }
}

TEST(RowPagesTest, TheLastRangeEndsWithItsRegion) {
  const Layout layout = layout_of({1, 1}, ElementType::kF16);
  const std::size_t block = layout.k_block_bytes(0);
  const RowPages pages = first_touched(layout, {.first = 0, .count = kRows},
                                       {.page_bytes = 4096, .k_bytes = block, .v_bytes = block});
  EXPECT_EQ(pages.bytes(), 2 * block);
}

}  // namespace
}  // namespace ahead::kv
