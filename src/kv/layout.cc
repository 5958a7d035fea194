// Index arithmetic and row copies of the block-major KV layout. May use: base.
#include "kv/layout.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace ahead::kv {
namespace {

/// Rows of one tile of the transposition. With 64 bytes of each row a tile's lines stay in the
/// first-level cache even where rows lie a multiple of 4 KiB apart and share one set of it.
constexpr std::size_t kTileRows = 8;
constexpr std::size_t kTileRowBytes = 64;

struct Transposition {
  std::size_t rows = 0;
  std::size_t dims = 0;
  std::size_t from_stride = 0;  ///< elements from a source row to the next
  std::size_t to_stride = 0;    ///< elements from a target dimension to the next
};

/// to[dim * to_stride + row] = from[row * from_stride + dim], for elements of `Size` bytes. Moved
/// by memcpy, as neither side need be an object of a type known here.
template <std::size_t Size>
void transpose(std::byte* to, const std::byte* from, const Transposition& shape) {
  constexpr std::size_t kTileDims = kTileRowBytes / Size;
  for (std::size_t row = 0; row < shape.rows; row += kTileRows) {
    const std::size_t row_end = std::min(row + kTileRows, shape.rows);
    for (std::size_t dim = 0; dim < shape.dims; dim += kTileDims) {
      const std::size_t dim_end = std::min(dim + kTileDims, shape.dims);
      for (std::size_t d = dim; d < dim_end; ++d) {
        for (std::size_t r = row; r < row_end; ++r) {
          std::memcpy(to + (d * shape.to_stride + r) * Size,
                      from + (r * shape.from_stride + d) * Size, Size);
        }
      }
    }
  }
}

/// Where a layer keeps row `row` of the sequence.
std::size_t place_of(const LayerShape& layer, std::size_t row) {
  return layer.ring_rows == 0 ? row : row % layer.ring_rows;
}

}  // namespace

std::size_t Layout::blocks(std::size_t rows) const {
  AHEAD_CHECK(block_rows > 0, "a KV layout has at least one row a block");
  return (rows + block_rows - 1) / block_rows;
}

std::size_t Layout::rows_kept(std::size_t layer, std::size_t rows) const {
  const std::size_t ring = layers.at(layer).ring_rows;
  return ring == 0 ? rows : std::min(rows, ring);
}

std::size_t Layout::layer_blocks(std::size_t layer, std::size_t rows) const {
  return blocks(rows_kept(layer, rows));
}

std::size_t Layout::k_block_bytes(std::size_t layer) const {
  const LayerShape& shape = layers.at(layer);
  return shape.kv_heads * shape.head_dim * block_rows * size_of(type);
}

std::size_t Layout::v_block_bytes(std::size_t layer) const {
  const LayerShape& shape = layers.at(layer);
  return shape.kv_heads * shape.v_dim() * block_rows * size_of(type);
}

std::size_t Layout::total_bytes(std::size_t capacity) const {
  std::size_t bytes = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    bytes += layer_blocks(layer, capacity) * (k_block_bytes(layer) + v_block_bytes(layer));
  }
  return bytes;
}

std::size_t Layout::kept_bytes(std::size_t rows) const {
  std::size_t bytes = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    bytes += rows_kept(layer, rows) * ((k_block_bytes(layer) + v_block_bytes(layer)) / block_rows);
  }
  return bytes;
}

Shape Layout::k_shape(std::size_t layer, std::size_t capacity) const {
  const LayerShape& shape = layers.at(layer);
  return {layer_blocks(layer, capacity), shape.kv_heads, shape.head_dim, block_rows};
}

Shape Layout::v_shape(std::size_t layer, std::size_t capacity) const {
  const LayerShape& shape = layers.at(layer);
  return {layer_blocks(layer, capacity), shape.kv_heads, block_rows, shape.v_dim()};
}

std::size_t block_rows_for(const std::vector<std::int64_t>& ladder, std::size_t limit) {
  AHEAD_CHECK(!ladder.empty() && limit > 0, "a block size is chosen for at least one rung");
  const auto divides_all = [&](std::size_t rows) {
    return std::all_of(ladder.begin(), ladder.end(), [rows](std::int64_t rung) {
      AHEAD_CHECK(rung > 0, "a rung holds at least one token");
      return static_cast<std::size_t>(rung) % rows == 0;
    });
  };
  std::size_t rows = 1;
  while (rows <= limit / 2 && divides_all(rows * 2)) rows *= 2;
  return rows;
}

void store_rows(const Layout& layout, StoreTarget target, StoreRange range, NewRows rows) {
  const LayerShape& shape = layout.layers.at(range.layer);
  const std::size_t block_rows = layout.block_rows;
  const std::size_t element = size_of(layout.type);
  const std::size_t k_row_bytes = shape.head_dim * element;  // of one head
  const std::size_t v_row_bytes = shape.v_dim() * element;

  std::size_t done = range.count - layout.rows_kept(range.layer, range.count);
  while (done < range.count) {
    const std::size_t kept = place_of(shape, range.first + done);
    const std::size_t block = kept / block_rows;
    const std::size_t row = kept % block_rows;
    const std::size_t count = std::min(block_rows - row, range.count - done);
    for (std::size_t head = 0; head < shape.kv_heads; ++head) {
      const std::size_t from = done * shape.kv_heads + head;  // in rows of one head
      const std::size_t to = block * shape.kv_heads + head;   // in blocks of one head
      std::byte* const k =
          static_cast<std::byte*>(target.k) + to * block_rows * k_row_bytes + row * element;
      const std::byte* const new_k = static_cast<const std::byte*>(rows.k) + from * k_row_bytes;
      const Transposition transposition{.rows = count,
                                        .dims = shape.head_dim,
                                        .from_stride = shape.kv_heads * shape.head_dim,
                                        .to_stride = block_rows};
      if (element == 2) {
        transpose<2>(k, new_k, transposition);
      } else {
        transpose<4>(k, new_k, transposition);
      }

      std::byte* const v =
          static_cast<std::byte*>(target.v) + (to * block_rows + row) * v_row_bytes;
      const std::byte* const new_v = static_cast<const std::byte*>(rows.v) + from * v_row_bytes;
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(v + i * v_row_bytes, new_v + i * shape.kv_heads * v_row_bytes, v_row_bytes);
      }
    }
    done += count;
  }
}

}  // namespace ahead::kv
