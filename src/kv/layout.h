// The block-major KV layout: where a row of K or V lies. Pure arithmetic and row copies; no memory
// is owned here. May use: base.
//
// Per layer and sequence, with R rows a block:
//   K is [block][kv_head][dim][row]   (transposed inside its block: q times K runs over rows)
//   V is [block][kv_head][row][dim]
// A larger capacity is the same bytes at the same address with more blocks behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/tensor_view.h"

namespace ahead::kv {

/// KV heads and head size of one layer.
struct LayerShape {
  std::size_t kv_heads = 0;
  std::size_t head_dim = 0;
};

/// The layout of one sequence's cache.
struct Layout {
  std::vector<LayerShape> layers;
  std::size_t block_rows = 0;  ///< R; divides every capacity
  ElementType type = ElementType::kF32;

  /// Blocks that hold `rows` rows, the last one perhaps in part.
  [[nodiscard]] std::size_t blocks(std::size_t rows) const;
  /// Bytes of one block of K, or of V, of `layer`.
  [[nodiscard]] std::size_t block_bytes(std::size_t layer) const;
  /// Bytes of K and V over all layers for `capacity` rows.
  [[nodiscard]] std::size_t total_bytes(std::size_t capacity) const;
  /// [capacity / R, kv_heads, head_dim, R]; `capacity` is a whole number of blocks.
  [[nodiscard]] Shape k_shape(std::size_t layer, std::size_t capacity) const;
  /// [capacity / R, kv_heads, R, head_dim]; `capacity` is a whole number of blocks.
  [[nodiscard]] Shape v_shape(std::size_t layer, std::size_t capacity) const;
};

/// The largest power of two up to `limit` that divides every rung. `ladder` is not empty and its
/// rungs are above 0.
[[nodiscard]] std::size_t block_rows_for(const std::vector<std::int64_t>& ladder,
                                         std::size_t limit = 128);

/// Rows as a step produces them, for one layer: K and V are [count][kv_head][dim] each, of the
/// layout's type. (A step's output may have more rows behind the first `count`: padding.)
struct NewRows {
  const void* k = nullptr;
  const void* v = nullptr;
};

/// The start of a layer's K and V regions.
struct StoreTarget {
  void* k = nullptr;
  void* v = nullptr;
};

/// Rows `first` .. `first + count - 1` of `layer`.
struct StoreRange {
  std::size_t layer = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Copies `range.count` rows to their places in the regions of `target`, which must have room for
/// them. Touches no other row.
void store_rows(const Layout& layout, StoreTarget target, StoreRange range, NewRows rows);

}  // namespace ahead::kv
