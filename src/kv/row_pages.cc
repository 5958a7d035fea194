// Index arithmetic of the block-major layout, in pages. May use: base.
#include "kv/row_pages.h"

#include <algorithm>
#include <utility>

namespace ahead::kv {
namespace {

/// Adds the pages of bytes begin .. end - 1, joined to what stands before if they meet.
class Pages {
 public:
  explicit Pages(PageGrid grid) : grid_(grid) {}

  void add(std::size_t begin, std::size_t end) {
    begin = begin / grid_.page_bytes * grid_.page_bytes;
    end = std::min(round_up(end), grid_.region_bytes);
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
    return (byte + grid_.page_bytes - 1) / grid_.page_bytes * grid_.page_bytes;
  }

  std::vector<Range> ranges;

 private:
  const PageGrid grid_;
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
  const std::size_t block_bytes = layout.block_bytes(rows.layer);
  const std::size_t heads = layout.layers.at(rows.layer).kv_heads;
  const std::size_t head_bytes = block_bytes / heads;
  const std::size_t row_bytes = head_bytes / layout.block_rows;
  Pages k(grid);
  Pages v(grid);
  // What goes where a ring was written before touches nothing first.
  const std::size_t ring = layout.layers[rows.layer].ring_rows;
  if (ring != 0) rows.count = rows.first < ring ? std::min(rows.count, ring - rows.first) : 0;
  for (std::size_t done = 0; done < rows.count;) {
    const std::size_t block = (rows.first + done) / layout.block_rows;
    const std::size_t row = (rows.first + done) % layout.block_rows;
    const std::size_t count = std::min(layout.block_rows - row, rows.count - done);
    if (row == 0) k.add(block * block_bytes, (block + 1) * block_bytes);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t first = block * block_bytes + head * head_bytes + row * row_bytes;
      // A page that this head's row before reaches was written with it.
      const std::size_t begin = row == 0 ? first : v.round_up(first);
      if (begin < first + count * row_bytes) v.add(begin, first + count * row_bytes);
    }
    done += count;
  }
  return {.k = std::move(k.ranges), .v = std::move(v.ranges)};
}

}  // namespace ahead::kv
