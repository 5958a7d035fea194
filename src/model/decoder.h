// The canonical stateless decoder that every reader produces and every cut starts from.
// May use: base, OpenVINO.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/cached_attention.h"
#include "openvino/core/model.hpp"

namespace ahead::model {

/// A decoder with its cache outside. `graph` has
///   inputs   tokens [B, T] i32, positions [B, T] i32, logit_rows [L] i32 (flat token indices),
///   output   logits [L, vocabulary] f32,
/// batch and tokens dynamic and flattened to B * T inside, and one CachedAttention a layer, which
/// stands for past K/V in and new K/V rows out. Quantised weights are kept compressed.
/// Immutable once read: cut from a clone.
struct Decoder {
  std::shared_ptr<const ov::Model> graph;
  std::string architecture;
  std::vector<AttentionShape> layers;  ///< by CachedAttention layer number
  std::int64_t sink_layers = 0;        ///< whose attention has sinks
  std::int64_t vocabulary = 0;
  std::int64_t trained_context = 0;  ///< tokens; 0 when the model does not say

  /// K and V elements a token adds over all layers.
  [[nodiscard]] std::int64_t kv_values_per_token() const;
};

/// Names of the canonical inputs and output.
inline constexpr const char* kTokens = "tokens";
inline constexpr const char* kPositions = "positions";
inline constexpr const char* kLogitRows = "logit_rows";
inline constexpr const char* kLogits = "logits";

}  // namespace ahead::model
