// Which pages of a layer's K and V rows are the first to touch. Pure arithmetic. May use: base.
#pragma once

#include <cstddef>
#include <vector>

#include "kv/layout.h"
#include "kv/page_provider.h"

namespace ahead::kv {

/// Whole pages, except that the last ends with its region; ascending, apart from each other.
struct RowPages {
  std::vector<Range> k;
  std::vector<Range> v;

  /// Bytes of all of them.
  [[nodiscard]] std::size_t bytes() const;
};

/// The unit, and where pages end.
struct PageGrid {
  std::size_t page_bytes = 0;
  std::size_t k_bytes = 0;  ///< of K's region
  std::size_t v_bytes = 0;  ///< of V's region
};

/// The pages that storing `rows` writes and that no row before them can have written. In K a
/// block's first row reaches all of it; V is reached row by row. A page may be named that was
/// written before, but none that `rows` does not write.
[[nodiscard]] RowPages first_touched(const Layout& layout, StoreRange rows, PageGrid grid);

}  // namespace ahead::kv
