// The memory policies, one file each; make_cache() chooses. Internal to this room. May use: base.
#pragma once

#include <memory>

#include "kv/kv_cache.h"

namespace ahead::kv {

/// The last capacity is allocated and written from the start; growing only lengthens the views.
[[nodiscard]] std::unique_ptr<KvCache> make_shared_max(KvCache::Options options,
                                                       PageProvider& pages);

/// Memory is sized to the capacity; growing allocates anew and copies the live blocks.
[[nodiscard]] std::unique_ptr<KvCache> make_copy_grow(KvCache::Options options,
                                                      PageProvider& pages);

/// Address space for the last capacity; growing lengthens the views over the same bytes.
[[nodiscard]] std::unique_ptr<KvCache> make_in_place(KvCache::Options options, PageProvider& pages);

}  // namespace ahead::kv
