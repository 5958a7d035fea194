// What the memory policies share: rows, views, accounts, and allocation that is all or nothing.
// May use: base.
#include "kv/kv_cache.h"

#include <string>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "kv/policies.h"

namespace ahead::kv {

KvCache::KvCache(Options options, PageProvider& pages)
    : options_(std::move(options)), pages_(pages), capacity_(options_.first_capacity) {
  const Layout& layout = options_.layout;
  AHEAD_CHECK(!layout.layers.empty(), "a KV cache has at least one layer");
  AHEAD_CHECK(layout.block_rows > 0, "a KV layout has at least one row a block");
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
  return {layout().type, layout().k_shape(layer, capacity_), regions_.at(layer).k.data};
}

TensorView KvCache::v(std::size_t layer) const {
  return {layout().type, layout().v_shape(layer, capacity_), regions_.at(layer).v.data};
}

void KvCache::append(const std::vector<NewRows>& rows, std::size_t count) {
  AHEAD_CHECK(rows.size() == regions_.size(), "appended rows have one entry a layer");
  AHEAD_CHECK(count <= capacity_ - live_rows_, "appended rows fit the KV cache's capacity");
  for (std::size_t layer = 0; layer < rows.size(); ++layer) {
    store_rows(layout(), {.k = regions_[layer].k.data, .v = regions_[layer].v.data},
               {.layer = layer, .first = live_rows_, .count = count}, rows[layer]);
  }
  live_rows_ += count;
}

Growth KvCache::grow(std::size_t capacity) {
  AHEAD_CHECK(capacity > capacity_ && capacity <= options_.last_capacity,
              "a KV cache grows to more than it has and no more than its last capacity");
  AHEAD_CHECK(capacity % layout().block_rows == 0, "a KV capacity is a whole number of blocks");
  const std::size_t copied = fit(capacity);
  capacity_ = capacity;
  return {.copied_bytes = copied,
          .live_blocks = 2 * layout().layers.size() * layout().blocks(live_rows_)};
}

std::size_t KvCache::reserved_bytes() const {
  std::size_t bytes = 0;
  for (const auto* regions : {&regions_, &old_regions_}) {
    for (const LayerRegions& layer : *regions) bytes += layer.k.bytes + layer.v.bytes;
  }
  return bytes;
}

std::size_t KvCache::committed_bytes() const {
  std::size_t bytes = 0;
  for (const auto* regions : {&regions_, &old_regions_}) {
    for (const LayerRegions& layer : *regions) {
      bytes += pages_.committed_bytes(layer.k) + pages_.committed_bytes(layer.v);
    }
  }
  return bytes;
}

std::vector<KvCache::LayerRegions> KvCache::allocate(std::size_t capacity) {
  return obtain(capacity, &PageProvider::allocate);
}

std::vector<KvCache::LayerRegions> KvCache::reserve(std::size_t capacity) {
  return obtain(capacity, &PageProvider::reserve);
}

std::vector<KvCache::LayerRegions> KvCache::obtain(std::size_t capacity, Obtain from) {
  const std::size_t blocks = layout().blocks(capacity);
  std::vector<LayerRegions> regions(layout().layers.size());
  try {
    for (std::size_t layer = 0; layer < regions.size(); ++layer) {
      regions[layer].k = (pages_.*from)(blocks * layout().block_bytes(layer));
      regions[layer].v = (pages_.*from)(blocks * layout().block_bytes(layer));
    }
  } catch (const Error& error) {
    release(regions);
    throw Error(error.kind(), "the KV cache could not get the " +
                                  std::to_string(layout().total_bytes(capacity)) + " bytes for " +
                                  std::to_string(capacity) + " rows: " + error.what());
  }
  return regions;
}

void KvCache::release(std::vector<LayerRegions>& regions) noexcept {
  for (const LayerRegions& layer : regions) {
    for (const Region& region : {layer.k, layer.v}) {
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
