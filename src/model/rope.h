// Rotary position embedding in the form that costs least. May use: base, OpenVINO.
#pragma once

#include <cstdint>
#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// What of a reader's rotations is to become another.
struct RopeMends {
  /// In every so many-th layer, counted from 1, there is to be none; 0: in all layers as it is.
  std::int64_t unrotated_every = 0;
  /// The reader rotates neighbours; the first half of a head is to be rotated with the second.
  bool halves = false;
};

/// Rewrites the rotation of q and k in front of every CachedAttention, however the reader spelled
/// it, as
///   x * cos + Gather(x, permutation) * signed_sin,      x [1, N, heads, D],
/// with tables [1, N, 1, D] that are made once for all layers. What a reader wrote is known by what
/// it does to a probe (rope_probe.h); what is no rotation of all of a head is left as it is.
/// Throws std::invalid_argument where a rotation that is to be mended is not found.
void rewrite_rope(const std::shared_ptr<ov::Model>& graph, const RopeMends& mends = {});

}  // namespace ahead::model
