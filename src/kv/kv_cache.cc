// What the memory policies share: rows, views, accounts, and allocation that is all or nothing.
// May use: base.
#include "kv/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "kv/policies.h"
#include "kv/row_pages.h"

namespace ahead::kv {

KvCache::KvCache(Options options, PageProvider& pages)
    : options_(std::move(options)), pages_(pages), capacity_(options_.first_capacity) {
  const Layout& layout = options_.layout;
  AHEAD_CHECK(!layout.layers.empty(), "a KV cache has at least one layer");
  AHEAD_CHECK(layout.block_rows > 0, "a KV layout has at least one row a block");
  for (const LayerShape& layer : layout.layers) {
    AHEAD_CHECK(layer.ring_rows % layout.block_rows == 0, "a ring is a whole number of blocks");
  }
  AHEAD_CHECK(options_.first_capacity > 0 && options_.first_capacity <= options_.last_capacity,
              "a KV cache's capacities ascend from above 0");
  AHEAD_CHECK(options_.first_capacity % layout.block_rows == 0 &&
                  options_.last_capacity % layout.block_rows == 0,
              "a KV capacity is a whole number of blocks");
}

KvCache::~KvCache() {
  release(old_regions_);
  release(regions_);
}

TensorView KvCache::k(std::size_t layer) const {
  return {layout().type, layout().k_shape(layer, capacity_), regions_.at(layer).k.region.data};
}

TensorView KvCache::v(std::size_t layer) const {
  return {layout().type, layout().v_shape(layer, capacity_), regions_.at(layer).v.region.data};
}

void KvCache::append(const std::vector<NewRows>& rows, std::size_t count) {
  AHEAD_CHECK(rows.size() == regions_.size(), "appended rows have one entry a layer");
  AHEAD_CHECK(count <= capacity_ - live_rows_, "appended rows fit the KV cache's capacity");
  if (!written_) commit_rows(count);
  for (std::size_t layer = 0; layer < rows.size(); ++layer) {
    store_rows(layout(), {.k = regions_[layer].k.region.data, .v = regions_[layer].v.region.data},
               {.layer = layer, .first = live_rows_, .count = count}, rows[layer]);
  }
  live_rows_ += count;
  if (!written_ && count == 1) commit_ahead();
}

void KvCache::commit_rows(std::size_t count) {
  std::vector<RowPages> pages;
  std::size_t wanted = 0;
  for (std::size_t layer = 0; layer < regions_.size(); ++layer) {
    pages.push_back(first_touched(layout(), {.layer = layer, .first = live_rows_, .count = count},
                                  {.page_bytes = pages_.page_bytes(),
                                   .k_bytes = regions_[layer].k.region.bytes,
                                   .v_bytes = regions_[layer].v.region.bytes}));
    wanted += pages.back().bytes();
  }
  if (wanted == 0) return;
  try {
    for (std::size_t layer = 0; layer < regions_.size(); ++layer) {
      for (const Range& range : pages[layer].k) pages_.commit(regions_[layer].k.region, range);
      for (const Range& range : pages[layer].v) pages_.commit(regions_[layer].v.region, range);
    }
  } catch (const Error& error) {
    throw Error(error.kind(), "the KV cache could not get the " + std::to_string(wanted) +
                                  " bytes for row " + std::to_string(live_rows_) +
                                  " and on: " + error.what());
  }
}

// A block's first row reaches all pages of its K. Were they all backed with it, that step would be
// a millisecond or two longer than its neighbours, and it is the first after every switch.
void KvCache::commit_ahead() {
  const std::size_t block_rows = layout().block_rows;
  const std::size_t shares = std::max(block_rows / 8, std::size_t{1});
  const std::size_t left = layout().blocks(live_rows_) * block_rows - live_rows_;
  if (left >= shares) return;
  const std::size_t share = shares - 1 - left;
  try {
    for (std::size_t layer = 0; layer < regions_.size(); ++layer) {
      const Region& k = regions_[layer].k.region;
      const std::size_t block = layout().k_block_bytes(layer);
      const std::size_t next = layout().blocks(live_rows_) * block;
      if (next >= k.bytes) continue;  // it is the last, or a ring comes round
      const std::size_t begin = next + block * share / shares;
      const std::size_t end = next + block * (share + 1) / shares;
      if (begin < end) pages_.commit(k, {.begin = begin, .bytes = end - begin});
    }
  } catch (const Error& error) {
    // No row needs them yet; when one does, it is refused in its turn.
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
  }
}

bool KvCache::can_trim(std::size_t rows) const {
  if (rows > live_rows_) return false;
  return std::all_of(layout().layers.begin(), layout().layers.end(), [&](const LayerShape& layer) {
    // A ring has a block more than its window: so many rows may go, or all of what never came
    // round.
    return layer.ring_rows == 0 || live_rows_ <= layer.ring_rows ||
           live_rows_ - rows <= layout().block_rows;
  });
}

void KvCache::trim(std::size_t rows) {
  AHEAD_CHECK(can_trim(rows), "a KV cache is trimmed to rows that it has");
  live_rows_ = rows;
}

bool KvCache::prefault(Prefault rows) {
  AHEAD_CHECK(rows.capacity > 0 && rows.capacity <= options_.last_capacity,
              "a KV cache is made ready for no more than its last capacity");
  AHEAD_CHECK(rows.capacity % layout().block_rows == 0,
              "a KV capacity is a whole number of blocks");
  if (written_) return true;
  const std::size_t page = pages_.page_bytes();
  std::size_t budget = std::max(rows.budget_bytes / page, std::size_t{1}) * page;
  for (std::size_t layer = 0; layer < regions_.size(); ++layer) {
    for (Buffer* const buffer : {&regions_[layer].k, &regions_[layer].v}) {
      const std::size_t block = buffer == &regions_[layer].k ? layout().k_block_bytes(layer)
                                                             : layout().v_block_bytes(layer);
      const std::size_t wanted = layout().layer_blocks(layer, rows.capacity) * block;
      const std::size_t full = layout().rows_kept(layer, live_rows_) / layout().block_rows * block;
      buffer->ready = std::max(buffer->ready, full);  // written
      const std::size_t end = std::min(wanted, buffer->region.bytes);
      if (buffer->ready >= end) continue;
      if (budget == 0) return false;
      const std::size_t bytes = std::min(budget, end - buffer->ready);
      pages_.prefault(buffer->region, {.begin = buffer->ready, .bytes = bytes});
      buffer->ready += bytes;
      if (buffer->ready < end) return false;
      budget -= std::min(budget, (bytes + page - 1) / page * page);
    }
  }
  return true;
}

Growth KvCache::grow(std::size_t capacity) {
  AHEAD_CHECK(capacity > capacity_ && capacity <= options_.last_capacity,
              "a KV cache grows to more than it has and no more than its last capacity");
  AHEAD_CHECK(capacity % layout().block_rows == 0, "a KV capacity is a whole number of blocks");
  const std::size_t copied = fit(capacity);
  capacity_ = capacity;
  std::size_t live = 0;
  for (std::size_t layer = 0; layer < layout().layers.size(); ++layer) {
    live += 2 * layout().layer_blocks(layer, live_rows_);
  }
  return {.copied_bytes = copied, .live_blocks = live};
}

std::size_t KvCache::reserved_bytes() const {
  std::size_t bytes = 0;
  for (const auto* regions : {&regions_, &old_regions_}) {
    for (const LayerRegions& layer : *regions) {
      bytes += layer.k.region.bytes + layer.v.region.bytes;
    }
  }
  return bytes;
}

std::size_t KvCache::committed_bytes() const {
  std::size_t bytes = 0;
  for (const auto* regions : {&regions_, &old_regions_}) {
    for (const LayerRegions& layer : *regions) {
      bytes += pages_.committed_bytes(layer.k.region) + pages_.committed_bytes(layer.v.region);
    }
  }
  return bytes;
}

std::vector<KvCache::LayerRegions> KvCache::allocate(std::size_t capacity, std::size_t before) {
  return obtain(capacity, before, &PageProvider::allocate);
}

std::vector<KvCache::LayerRegions> KvCache::reserve(std::size_t capacity) {
  return obtain(capacity, 0, &PageProvider::reserve);
}

std::vector<KvCache::LayerRegions> KvCache::obtain(std::size_t capacity, std::size_t before,
                                                   Obtain from) {
  std::vector<LayerRegions> regions(layout().layers.size());
  try {
    for (std::size_t layer = 0; layer < regions.size(); ++layer) {
      const std::size_t blocks = layout().layer_blocks(layer, capacity);
      if (blocks == layout().layer_blocks(layer, before)) continue;
      regions[layer].k.region = (pages_.*from)(blocks * layout().k_block_bytes(layer));
      regions[layer].v.region = (pages_.*from)(blocks * layout().v_block_bytes(layer));
    }
  } catch (const Error& error) {
    release(regions);
    throw refused(capacity, error);
  }
  return regions;
}

Error KvCache::refused(std::size_t capacity, const Error& error) const {
  return {error.kind(), "the KV cache could not get the " +
                            std::to_string(layout().total_bytes(capacity)) + " bytes for " +
                            std::to_string(capacity) + " rows: " + error.what()};
}

void KvCache::write_all() {
  try {
    for (const LayerRegions& layer : regions_) {
      for (const Region& region : {layer.k.region, layer.v.region}) {
        // They read as zero already. A refusal is an error here, and a kill at the write.
        pages_.commit(region, {.begin = 0, .bytes = region.bytes});
        std::memset(region.data, 0, region.bytes);
      }
    }
  } catch (const Error& error) {
    throw refused(options_.last_capacity, error);
  }
  written_ = true;
}

void KvCache::release(std::vector<LayerRegions>& regions) noexcept {
  for (const LayerRegions& layer : regions) {
    for (const Region& region : {layer.k.region, layer.v.region}) {
      if (region.data != nullptr) pages_.release(region);
    }
  }
  regions.clear();
}

std::unique_ptr<KvCache> make_cache(KvPolicy policy, const KvCache::Options& options,
                                    PageProvider& pages, std::string* fallback) {
  switch (policy) {
    case KvPolicy::kSharedMax:
      return make_shared_max(options, pages);
    case KvPolicy::kCopyGrow:
      return make_copy_grow(options, pages);
    case KvPolicy::kInPlace:
      try {
        return make_in_place(options, pages);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kOutOfMemory || fallback == nullptr) throw;
        *fallback =
            std::string("the cache is copied as it grows, not grown in place: ") + error.what();
        return make_copy_grow(options, pages);
      }
  }
  AHEAD_CHECK(false, "every KV policy has a cache");
  return nullptr;
}

}  // namespace ahead::kv
