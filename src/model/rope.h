// Rotary position embedding in the form that costs least. May use: base, OpenVINO.
#pragma once

#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// Rewrites the rotation of q and k in front of every CachedAttention, however the reader spelled
/// it, as
///   x * cos + Gather(x, permutation) * signed_sin,      x [1, N, heads, D],
/// with tables [1, N, 1, D] that are made once for all layers. What a reader wrote is known by what
/// it does to a probe (rope_probe.h); what is no rotation of all of a head is left as it is.
void rewrite_rope(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::model
