// The block-major KV layout: where a row of K or V lies. Pure arithmetic and row copies; no memory
// is owned here. May use: base.
//
// Per layer and sequence, with R rows a block:
//   K is [block][kv_head][dim][row]   (transposed inside its block: q times K runs over rows)
//   V is [block][kv_head][row][dim]      (its heads may be of another size than K's)
// A larger capacity is the same bytes at the same address with more blocks behind them. A layer
// with a window keeps a ring: row p stands where row p % ring would, and its blocks end with the
// ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/tensor_view.h"

namespace ahead::kv {

/// KV heads and head sizes of one layer, and which rows it keeps.
struct LayerShape {
  std::size_t kv_heads = 0;
  std::size_t head_dim = 0;
  std::size_t value_dim = 0;  ///< head size of V where it is not K's; 0: K's
  std::size_t ring_rows = 0;  ///< whole blocks; 0: every row is kept

  [[nodiscard]] std::size_t v_dim() const { return value_dim == 0 ? head_dim : value_dim; }
};

/// The layout of one sequence's cache.
struct Layout {
  std::vector<LayerShape> layers;
  std::size_t block_rows = 0;  ///< R; divides every capacity
  ElementType type = ElementType::kF32;

  /// Blocks that hold `rows` rows where all are kept, the last one perhaps in part.
  [[nodiscard]] std::size_t blocks(std::size_t rows) const;
  /// Rows of the first `rows` that `layer` has room for.
  [[nodiscard]] std::size_t rows_kept(std::size_t layer, std::size_t rows) const;
  /// Blocks of `layer` that hold what it keeps of `rows` rows.
  [[nodiscard]] std::size_t layer_blocks(std::size_t layer, std::size_t rows) const;
  /// Bytes of one block of K of `layer`.
  [[nodiscard]] std::size_t k_block_bytes(std::size_t layer) const;
  /// Bytes of one block of V of `layer`.
  [[nodiscard]] std::size_t v_block_bytes(std::size_t layer) const;
  /// Bytes of K and V over all layers for `capacity` rows, in whole blocks.
  [[nodiscard]] std::size_t total_bytes(std::size_t capacity) const;
  /// Bytes of what is kept of `rows` rows, K and V over all layers.
  [[nodiscard]] std::size_t kept_bytes(std::size_t rows) const;
  /// [rows_kept(layer, capacity) / R, kv_heads, head_dim, R]; `capacity` is a whole number of
  /// blocks.
  [[nodiscard]] Shape k_shape(std::size_t layer, std::size_t capacity) const;
  /// [rows_kept(layer, capacity) / R, kv_heads, R, v_dim()]; likewise.
  [[nodiscard]] Shape v_shape(std::size_t layer, std::size_t capacity) const;
};

/// The largest power of two up to `limit` that divides every rung. `ladder` is not empty and its
/// rungs are above 0.
[[nodiscard]] std::size_t block_rows_for(const std::vector<std::int64_t>& ladder,
                                         std::size_t limit = 128);

/// Rows as a step produces them, for one layer: K and V are [count][kv_head][dim], each with its
/// own head size, of the layout's type. (A step's output may have more rows behind the first
/// `count`: padding.)
struct NewRows {
  const void* k = nullptr;
  const void* v = nullptr;
};

/// The start of a layer's K and V regions.
struct StoreTarget {
  void* k = nullptr;
  void* v = nullptr;
};

/// Rows `first` .. `first + count - 1` of `layer`, counted from the sequence's beginning.
struct StoreRange {
  std::size_t layer = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Copies `range.count` rows to their places in the regions of `target`, which must have room for
/// them; of more than a ring holds the last ones. Touches no other row.
void store_rows(const Layout& layout, StoreTarget target, StoreRange range, NewRows rows);

}  // namespace ahead::kv
