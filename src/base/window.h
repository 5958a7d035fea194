// How many rows of its cache a layer keeps. Pure arithmetic, on which graphs and caches must agree.
// May use: std.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ahead {

/// Rows of the ring of a layer in which a token sees itself and the `window` - 1 tokens before it
/// (`window` from 1): as many whole blocks as the window fills, and one more, so that the block
/// being filled takes nothing away that is still seen. The row of position p is row p % ring.
[[nodiscard]] constexpr std::int64_t ring_rows(std::int64_t window, std::int64_t block_rows) {
  return ((window + block_rows - 1) / block_rows + 1) * block_rows;
}

/// How a layer keeps its rows.
struct RowsKept {
  std::int64_t window = 0;  ///< 0: a token sees all before it
  std::int64_t block_rows = 1;

  /// Of a cache with room for `rung` tokens, a whole number of blocks. What a smaller cache keeps
  /// is the beginning of what a larger one does.
  [[nodiscard]] constexpr std::int64_t of(std::int64_t rung) const {
    return window == 0 ? rung : std::min(rung, ring_rows(window, block_rows));
  }
};

}  // namespace ahead
