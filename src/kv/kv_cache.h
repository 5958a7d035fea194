// One sequence's KV cache: its rows, its capacity, and how it grows. The policies share one layout
// and one page provider and differ in nothing but memory. May use: base.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/error.h"
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
    std::size_t last_capacity = 0;   ///< rows, likewise; the most it will ever be asked to hold
  };

  virtual ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t live_rows() const { return live_rows_; }
  [[nodiscard]] const Layout& layout() const { return options_.layout; }

  /// The layer's tensors at the current capacity, shaped by Layout::k_shape and v_shape. They stay
  /// valid until grow(), and readable until release_old().
  [[nodiscard]] TensorView k(std::size_t layer) const;
  [[nodiscard]] TensorView v(std::size_t layer) const;

  /// Appends `count` rows to every layer. `rows` has one entry a layer. live_rows() + count must
  /// not exceed capacity(). Throws Error(kOutOfMemory) with the bytes wanted where the kernel can
  /// say that it has no pages for them; the cache is as before then.
  void append(const std::vector<NewRows>& rows, std::size_t count);

  /// Raises the capacity to `capacity` rows, a whole number of blocks above capacity() and no
  /// greater than last_capacity, keeping every live row. Views taken before are void. What an
  /// earlier grow() replaced and nobody released is freed. Throws Error(kOutOfMemory), in which
  /// case the cache is as before.
  Growth grow(std::size_t capacity);

  /// Whether trim(rows) can be: a ring may have come round over rows that would be needed again.
  [[nodiscard]] bool can_trim(std::size_t rows) const;
  /// Forgets the last rows, so that `rows` are left; can_trim(rows) holds. Views stay valid, and no
  /// memory is given back.
  void trim(std::size_t rows);

  struct Prefault {
    std::size_t capacity = 0;      ///< rows from the first on; a whole number of blocks
    std::size_t budget_bytes = 0;  ///< of one call; counted in whole pages, at least one
  };
  /// Makes rows ready to be read without page faults, as a program of that capacity reads them all:
  /// as many as the budget allows, going on where the last call stopped. True when nothing is left
  /// to do in the memory held now; what grow() gets anew it makes ready itself. Commits nothing.
  bool prefault(Prefault rows);

  /// Frees memory that the last grow() replaced; until then the old views stay readable.
  void release_old() noexcept { release(old_regions_); }

  /// Bytes the policy holds now, replaced memory not yet released included.
  [[nodiscard]] virtual std::size_t reserved_bytes() const;
  /// Bytes of those backed by physical memory now, by the kernel's account. Throws Error(kIo) where
  /// it gives none.
  [[nodiscard]] std::size_t committed_bytes() const;

 protected:
  /// A region, and the bytes at its start that are ready to be read.
  struct Buffer {
    Region region;
    std::size_t ready = 0;
  };
  /// K and V of one layer, equally long.
  struct LayerRegions {
    Buffer k;
    Buffer v;
  };

  /// Holds no memory yet: the policy's constructor sets regions_.
  KvCache(Options options, PageProvider& pages);

  /// Regions with room for `capacity` rows, for every layer that had not as much room at `before`
  /// rows, and nothing for the others; all or none. Throws Error(kOutOfMemory) with the bytes
  /// wanted for all of them.
  [[nodiscard]] std::vector<LayerRegions> allocate(std::size_t capacity, std::size_t before = 0);
  /// Such regions for every layer, as address space that is charged as it is written.
  [[nodiscard]] std::vector<LayerRegions> reserve(std::size_t capacity);
  /// Writes zeros to all of regions_: the kernel commits them, and append() need not.
  void write_all();
  /// `error` with the bytes that were wanted for all of `capacity` rows.
  [[nodiscard]] Error refused(std::size_t capacity, const Error& error) const;
  /// Empties `regions`.
  void release(std::vector<LayerRegions>& regions) noexcept;

  const Options options_;
  PageProvider& pages_;
  std::vector<LayerRegions> regions_;
  std::vector<LayerRegions> old_regions_;  ///< what the last growth replaced
  std::size_t capacity_ = 0;
  std::size_t live_rows_ = 0;
  bool written_ = false;  ///< every page of regions_ was written, whatever is live

 private:
  using Obtain = Region (PageProvider::*)(std::size_t);
  /// Backs the pages that `count` more rows are the first to touch; all layers before any row.
  void commit_rows(std::size_t count);
  /// Backs a share of the next block's K, if the block being filled is in its last eighth.
  void commit_ahead();
  [[nodiscard]] std::vector<LayerRegions> obtain(std::size_t capacity, std::size_t before,
                                                 Obtain from);
  /// Makes regions_ fit `capacity` rows and returns the bytes it copied; throws with nothing
  /// changed.
  virtual std::size_t fit(std::size_t capacity) = 0;
};

/// The cache that `policy` asks for. `pages` must outlive it. Throws Error(kOutOfMemory).
///
/// Where the kernel refuses the address space that in-place wants, the cache is copy-grow instead
/// and `fallback` says so in words; it is left alone otherwise.
[[nodiscard]] std::unique_ptr<KvCache> make_cache(KvPolicy policy, const KvCache::Options& options,
                                                  PageProvider& pages,
                                                  std::string* fallback = nullptr);

}  // namespace ahead::kv
