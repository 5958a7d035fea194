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
    std::vector<LayerRegions> larger = allocate(capacity);
    std::size_t copied = 0;
    for (std::size_t layer = 0; layer < larger.size(); ++layer) {
      // Live blocks are a prefix. The last one is copied whole: its rows interleave in K.
      const std::size_t bytes = layout().blocks(live_rows_) * layout().block_bytes(layer);
      std::memcpy(larger[layer].k.data, regions_[layer].k.data, bytes);
      std::memcpy(larger[layer].v.data, regions_[layer].v.data, bytes);
      copied += 2 * bytes;
    }
    release_old();
    old_regions_ = std::exchange(regions_, std::move(larger));
    return copied;
  }
};

}  // namespace

std::unique_ptr<KvCache> make_copy_grow(KvCache::Options options, PageProvider& pages) {
  return std::make_unique<CopyGrow>(std::move(options), pages);
}

}  // namespace ahead::kv
