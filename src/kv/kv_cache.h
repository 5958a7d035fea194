// One sequence's KV cache: its rows, its capacity, and how it grows. Three policies over one layout
// and one page provider, differing in nothing but memory. May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ahead/axes.h"
#include "base/tensor_view.h"
#include "kv/layout.h"
#include "kv/page_provider.h"

namespace ahead::kv {

/// What a growth cost.
struct Growth {
  std::size_t copied_bytes = 0;
  std::size_t live_blocks = 0;  ///< blocks holding live rows: over all layers, K and V apart
};

/// The cache of one sequence. Decode thread only.
class KvCache {
 public:
  struct Options {
    Layout layout;
    std::size_t first_capacity = 0;  ///< rows; a whole number of blocks
    std::size_t last_capacity = 0;   ///< rows; the most it will ever be asked to hold
  };

  virtual ~KvCache() = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t live_rows() const { return live_rows_; }
  [[nodiscard]] const Layout& layout() const { return options_.layout; }

  /// The layer's tensors at the current capacity, shaped by Layout::k_shape and v_shape. They stay
  /// valid until grow().
  [[nodiscard]] TensorView k(std::size_t layer) const;
  [[nodiscard]] TensorView v(std::size_t layer) const;

  /// Appends `count` rows to every layer. `rows` has one entry a layer. live_rows() + count must
  /// not exceed capacity().
  void append(const std::vector<NewRows>& rows, std::size_t count);

  /// Raises the capacity to `capacity` rows, a whole number of blocks no greater than
  /// last_capacity, keeping every live row. Views taken before are void. Throws
  /// Error(kOutOfMemory), in which case the cache is as before.
  virtual Growth grow(std::size_t capacity) = 0;

  /// Frees memory that the last grow() replaced; until then the old views stay readable.
  virtual void release_old() = 0;

  /// Bytes the policy holds now.
  [[nodiscard]] std::size_t reserved_bytes() const;
  /// Bytes backed by physical memory now, by the kernel's account.
  [[nodiscard]] std::size_t committed_bytes() const;

 protected:
  /// K and V of one layer.
  struct LayerRegions {
    Region k;
    Region v;
  };

  KvCache(Options options, PageProvider& pages);

  /// Regions for every layer with room for `capacity` rows; all or none.
  [[nodiscard]] std::vector<LayerRegions> allocate(std::size_t capacity);
  void release(std::vector<LayerRegions>& regions) noexcept;

  const Options options_;
  PageProvider& pages_;
  std::vector<LayerRegions> regions_;
  std::size_t capacity_ = 0;
  std::size_t live_rows_ = 0;
};

/// The cache that `policy` asks for. `pages` must outlive it.
[[nodiscard]] std::unique_ptr<KvCache> make_cache(KvPolicy policy, KvCache::Options options,
                                                  PageProvider& pages);

}  // namespace ahead::kv
