// The shared-max policy: one set of buffers for the whole ladder, all of it committed before the
// first token. The baseline the other policies are measured against. May use: base.
#include <utility>

#include "kv/policies.h"

namespace ahead::kv {
namespace {

class SharedMax final : public KvCache {
 public:
  SharedMax(Options options, PageProvider& pages) : KvCache(std::move(options), pages) {
    regions_ = allocate(options_.last_capacity);
    write_all();
  }

 private:
  /// A smaller capacity is a prefix of the same bytes.
  std::size_t fit(std::size_t /*capacity*/) override { return 0; }
};

}  // namespace

std::unique_ptr<KvCache> make_shared_max(KvCache::Options options, PageProvider& pages) {
  return std::make_unique<SharedMax>(std::move(options), pages);
}

}  // namespace ahead::kv
