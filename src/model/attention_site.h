// One attention of a reader's graph, traced back to its queries, its new rows and its cache.
// May use: base, OpenVINO.
#pragma once

#include <memory>
#include <string>

#include "model/cached_attention.h"
#include "openvino/op/scaled_dot_product_attention.hpp"

namespace ahead::model {

/// What CachedAttention needs, in its token-major f32 form.
struct AttentionSite {
  ov::Output<ov::Node> q;  ///< [1, N, q_heads, D]
  ov::Output<ov::Node> k;  ///< [1, N, kv_heads, D]
  ov::Output<ov::Node> v;  ///< [1, N, kv_heads, Dv]
  /// A constant [q_heads]; none where the attention has no sinks.
  ov::Output<ov::Node> sinks;
  AttentionShape shape;  ///< without the window, which is the mask's affair
  float scale = 0;
};

/// Traces `attention`. Throws std::invalid_argument with the reason when it is not one attention
/// over one growing cache; the caller adds the architecture's name.
[[nodiscard]] AttentionSite trace_attention(
    const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention);

/// Puts `output` [1, N, q_heads, Dv] f32 in the attention's place, peeling the transposes and
/// conversions that only served it.
void replace_attention(const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention,
                       const ov::Output<ov::Node>& output);

/// The window of the mask of `attention`, which must have one, as the graph computes it: 0 where it
/// hides later tokens and nothing else. Throws std::invalid_argument unless probes behind `past`
/// cached tokens and behind fewer show one and the same window. No cache is allocated for it.
[[nodiscard]] std::int64_t window_of_mask(
    const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention, std::int64_t past);

}  // namespace ahead::model
