// The in-place policy: address space for the last rung from the start, pages committed as rows come
// to need them. Growing copies nothing and moves nothing. May use: base.
#include <utility>

#include "kv/policies.h"

namespace ahead::kv {
namespace {

class InPlace final : public KvCache {
 public:
  InPlace(Options options, PageProvider& pages) : KvCache(std::move(options), pages) {
    regions_ = reserve(options_.last_capacity);
  }

  /// Address space costs nothing: what is held is what the views cover.
  [[nodiscard]] std::size_t reserved_bytes() const override {
    return layout().total_bytes(capacity());
  }

 private:
  /// A smaller capacity is a prefix of the same bytes.
  std::size_t fit(std::size_t /*capacity*/) override { return 0; }
};

}  // namespace

std::unique_ptr<KvCache> make_in_place(KvCache::Options options, PageProvider& pages) {
  return std::make_unique<InPlace>(std::move(options), pages);
}

}  // namespace ahead::kv
