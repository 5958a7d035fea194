// Test support: rows whose every element is known, and the naive index formula to find them again.
// May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/tensor_view.h"
#include "kv/kv_cache.h"
#include "kv/layout.h"

namespace ahead::kv {

enum class Side : std::uint32_t { kK, kV };

/// One element of one sequence's cache.
struct Element {
  Side side = Side::kK;
  std::size_t layer = 0;
  std::size_t row = 0;
  std::size_t head = 0;
  std::size_t dim = 0;
};

/// A bit pattern that differs between neighbours in every direction, cut to `size` bytes.
inline std::uint32_t pattern(const Element& at, std::size_t size) {
  std::uint64_t bits = static_cast<std::uint32_t>(at.side) + 1;
  for (const std::size_t part : {at.layer, at.row, at.head, at.dim}) {
    bits = (bits ^ part) * 0x9E3779B97F4A7C15U;
    bits ^= bits >> 29U;
  }
  return static_cast<std::uint32_t>(bits >> (size == 2 ? 48U : 32U));
}

/// Head size of one side of a layer.
inline std::size_t dims_of(const LayerShape& layer, Side side) {
  return side == Side::kV && layer.value_dim != 0 ? layer.value_dim : layer.head_dim;
}

/// The place of an element in its layer's region, counted in elements, straight from the layout's
/// definition.
inline std::size_t naive_index(const Layout& layout, const Element& at) {
  const std::size_t heads = layout.layers[at.layer].kv_heads;
  const std::size_t dims = dims_of(layout.layers[at.layer], at.side);
  const std::size_t ring = layout.layers[at.layer].ring_rows;
  const std::size_t place = ring == 0 ? at.row : at.row % ring;
  const std::size_t block = place / layout.block_rows;
  const std::size_t row = place % layout.block_rows;
  return at.side == Side::kK
             ? ((block * heads + at.head) * dims + at.dim) * layout.block_rows + row
             : ((block * heads + at.head) * layout.block_rows + row) * dims + at.dim;
}

inline std::uint32_t load(const void* data, std::size_t index, std::size_t size) {
  std::uint32_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(data) + index * size, size);
  return value;
}

/// The step's output for rows first .. first + count - 1 of every layer.
class TestRows {
 public:
  TestRows(const Layout& layout, std::size_t first, std::size_t count) {
    const std::size_t size = size_of(layout.type);
    for (std::size_t layer = 0; layer < layout.layers.size(); ++layer) {
      for (const Side side : {Side::kK, Side::kV}) {
        std::vector<std::byte>& bytes = bytes_.emplace_back();
        for (std::size_t row = first; row < first + count; ++row) {
          for (std::size_t head = 0; head < layout.layers[layer].kv_heads; ++head) {
            for (std::size_t dim = 0; dim < dims_of(layout.layers[layer], side); ++dim) {
              const std::uint32_t value = pattern({side, layer, row, head, dim}, size);
              bytes.resize(bytes.size() + size);
              std::memcpy(bytes.data() + bytes.size() - size, &value, size);
            }
          }
        }
      }
    }
    for (std::size_t layer = 0; layer < layout.layers.size(); ++layer) {
      rows_.push_back({.k = bytes_[2 * layer].data(), .v = bytes_[2 * layer + 1].data()});
    }
  }

  [[nodiscard]] const std::vector<NewRows>& rows() const { return rows_; }

 private:
  std::vector<std::vector<std::byte>> bytes_;  // K and V by turns
  std::vector<NewRows> rows_;
};

inline void append_rows(KvCache& cache, std::size_t count) {
  const TestRows rows(cache.layout(), cache.live_rows(), count);
  cache.append(rows.rows(), count);
}

/// How many elements of the live rows that the cache keeps are not what append_rows() gave it.
inline std::size_t wrong_elements(const KvCache& cache) {
  const Layout& layout = cache.layout();
  const std::size_t size = size_of(layout.type);
  std::size_t wrong = 0;
  for (std::size_t layer = 0; layer < layout.layers.size(); ++layer) {
    for (const Side side : {Side::kK, Side::kV}) {
      const TensorView view = side == Side::kK ? cache.k(layer) : cache.v(layer);
      const std::size_t live = cache.live_rows();
      for (std::size_t row = live - layout.rows_kept(layer, live); row < live; ++row) {
        for (std::size_t head = 0; head < layout.layers[layer].kv_heads; ++head) {
          for (std::size_t dim = 0; dim < dims_of(layout.layers[layer], side); ++dim) {
            const Element at{side, layer, row, head, dim};
            if (load(view.data, naive_index(layout, at), size) != pattern(at, size)) ++wrong;
          }
        }
      }
    }
  }
  return wrong;
}

}  // namespace ahead::kv
