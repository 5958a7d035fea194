// The copy-grow policy: buffers sized to the rung; a growth copies the live blocks, in one pass, to
// larger ones and keeps the old until they are released. May use: base.
#include <cstring>
#include <utility>

#include "kv/policies.h"

namespace ahead::kv {
namespace {

class CopyGrow final : public KvCache {
 public:
  CopyGrow(Options options, PageProvider& pages) : KvCache(std::move(options), pages) {
    regions_ = allocate(options_.first_capacity);
  }

 private:
  std::size_t fit(std::size_t capacity) override {
    // A ring that is whole does not grow.
    std::vector<LayerRegions> larger = allocate(capacity, capacity_);
    std::size_t copied = 0;
    try {
      for (std::size_t layer = 0; layer < larger.size(); ++layer) {
        if (larger[layer].k.region.data == nullptr) continue;
        const std::size_t blocks = layout().layer_blocks(layer, live_rows_);
        copied += copy(regions_[layer].k, larger[layer].k, blocks * layout().k_block_bytes(layer));
        copied += copy(regions_[layer].v, larger[layer].v, blocks * layout().v_block_bytes(layer));
      }
    } catch (const Error& error) {
      release(larger);
      throw refused(capacity, error);
    }
    for (std::size_t layer = 0; layer < larger.size(); ++layer) {
      if (larger[layer].k.region.data == nullptr)
        larger[layer] = std::exchange(regions_[layer], {});
    }
    release_old();
    old_regions_ = std::exchange(regions_, std::move(larger));
    return copied;
  }

  /// Copies the live blocks, which are the first `bytes`, and makes what is behind them ready to be
  /// read. The last block is copied whole: its rows interleave in K.
  std::size_t copy(const Buffer& from, Buffer& to, std::size_t bytes) {
    if (bytes > 0) {
      pages_.commit(to.region, {.begin = 0, .bytes = bytes});
      std::memcpy(to.region.data, from.region.data, bytes);
    }
    // The next step reads all of it; its first reads belong to the growth, not to the step.
    pages_.prefault(to.region, {.begin = bytes, .bytes = to.region.bytes - bytes});
    to.ready = to.region.bytes;
    return bytes;
  }
};

}  // namespace

std::unique_ptr<KvCache> make_copy_grow(KvCache::Options options, PageProvider& pages) {
  return std::make_unique<CopyGrow>(std::move(options), pages);
}

}  // namespace ahead::kv
