// The specialised attention of one sequence: folded groups, no append copy, block-major cache.
// May use: base, model, OpenVINO.
#pragma once

#include <cstdint>

#include "model/cached_attention.h"
#include "openvino/core/node_output.hpp"

namespace ahead::graph {

/// Concrete sizes of one sequence's attention.
struct BlockAttentionShape {
  model::AttentionShape heads;
  std::int64_t tokens = 1;      ///< T
  std::int64_t rows = 0;        ///< of the cache, N; a whole number of blocks
  std::int64_t block_rows = 0;  ///< R
  float scale = 1;
};

/// Inputs, in f32 but for the cache.
struct BlockAttentionInputs {
  ov::Output<ov::Node> q;        ///< [1, T, q_heads, D]
  ov::Output<ov::Node> k;        ///< [1, T, kv_heads, D], rounded as the cache will hold it
  ov::Output<ov::Node> v;        ///< [1, T, kv_heads, Dv], likewise
  ov::Output<ov::Node> cache_k;  ///< [N / R, kv_heads, D, R]
  ov::Output<ov::Node> cache_v;  ///< [N / R, kv_heads, R, Dv]
  ov::Output<ov::Node> bias;     ///< [N], or with a window [T, N]
  ov::Output<ov::Node> sinks;    ///< [q_heads], or nothing
};

/// Emits the attention; returns [1, T, q_heads, Dv]. Scores against the cache and against the new
/// rows are computed apart, joined for one softmax, and split again for the two products with V, so
/// that the cache is read in place and never copied. Queries of a group share K and V by standing
/// as more rows of one product. A sink is one more column of the softmax, which the split drops.
[[nodiscard]] ov::Output<ov::Node> block_attention(const BlockAttentionInputs& inputs,
                                                   const BlockAttentionShape& shape);

}  // namespace ahead::graph
