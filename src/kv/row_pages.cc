// Index arithmetic of the block-major layout, in pages. May use: base.
#include "kv/row_pages.h"

#include <algorithm>
#include <utility>

namespace ahead::kv {
namespace {

/// Adds the pages of bytes begin .. end - 1, joined to what stands before if they meet.
class Pages {
 public:
  Pages(const PageGrid& grid, std::size_t region_bytes)
      : page_bytes_(grid.page_bytes), region_bytes_(region_bytes) {}

  void add(std::size_t begin, std::size_t end) {
    begin = begin / page_bytes_ * page_bytes_;
    end = std::min(round_up(end), region_bytes_);
    if (!ranges.empty()) {
      Range& last = ranges.back();
      const std::size_t last_end = last.begin + last.bytes;
      if (begin <= last_end) {
        last.bytes = std::max(end, last_end) - last.begin;
        return;
      }
    }
    ranges.push_back({begin, end - begin});
  }

  [[nodiscard]] std::size_t round_up(std::size_t byte) const {
    return (byte + page_bytes_ - 1) / page_bytes_ * page_bytes_;
  }

  std::vector<Range> ranges;

 private:
  const std::size_t page_bytes_;
  const std::size_t region_bytes_;
};

}  // namespace

std::size_t RowPages::bytes() const {
  std::size_t bytes = 0;
  for (const auto* ranges : {&k, &v}) {
    for (const Range& range : *ranges) bytes += range.bytes;
  }
  return bytes;
}

RowPages first_touched(const Layout& layout, StoreRange rows, PageGrid grid) {
  const std::size_t k_block = layout.k_block_bytes(rows.layer);
  const std::size_t v_block = layout.v_block_bytes(rows.layer);
  const std::size_t heads = layout.layers.at(rows.layer).kv_heads;
  const std::size_t head_bytes = v_block / heads;
  const std::size_t row_bytes = head_bytes / layout.block_rows;
  Pages k(grid, grid.k_bytes);
  Pages v(grid, grid.v_bytes);
  // What goes where a ring was written before touches nothing first.
  const std::size_t ring = layout.layers[rows.layer].ring_rows;
  if (ring != 0) rows.count = rows.first < ring ? std::min(rows.count, ring - rows.first) : 0;
  for (std::size_t done = 0; done < rows.count;) {
    const std::size_t block = (rows.first + done) / layout.block_rows;
    const std::size_t row = (rows.first + done) % layout.block_rows;
    const std::size_t count = std::min(layout.block_rows - row, rows.count - done);
    if (row == 0) k.add(block * k_block, (block + 1) * k_block);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t first = block * v_block + head * head_bytes + row * row_bytes;
      // A page that this head's row before reaches was written with it.
      const std::size_t begin = row == 0 ? first : v.round_up(first);
      if (begin < first + count * row_bytes) v.add(begin, first + count * row_bytes);
    }
    done += count;
  }
  return {.k = std::move(k.ranges), .v = std::move(v.ranges)};
}

}  // namespace ahead::kv
