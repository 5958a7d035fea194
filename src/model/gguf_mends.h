// What a GGUF file asks for that OpenVINO's frontend leaves out and that is put into its graph
// afterwards (graph_mends.h). May use: base.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gguf_header.h"

namespace ahead::model {

/// Changes to the frontend's graph; none by default.
struct GgufMends {
  /// The rotation's frequencies are divided by them, the first by the first: Llama 3.1 and later
  /// stretch their context so. Of the tensor "rope_freqs.weight"; empty: there is none, or all
  /// are 1.
  std::vector<float> frequency_factors;
  /// Every so many-th layer, counted from 1, has no rotation (SmolLM3); 0: all have.
  std::int64_t unrotated_every = 0;
  /// A head's first half is rotated with its second, where the frontend rotates neighbours
  /// (Qwen3-MoE).
  bool rotate_halves = false;
  /// The weights of a token's chosen experts are made to add up to 1 (Mixtral, Qwen3-MoE).
  bool normalise_experts = false;
  /// Their weights are a softmax over the chosen ones, which the frontend takes over an axis of
  /// length one, so that each weighs 1 (gpt-oss).
  bool softmax_over_experts = false;

  friend bool operator==(const GgufMends&, const GgufMends&) = default;
};

/// What the file needs. As llama.cpp computes these architectures (src/llama-model.cpp and
/// src/models/), which is the reference for GGUF files.
[[nodiscard]] GgufMends mends_of(const GgufHeader& header);

/// Whether the tensor `name` is one of `architecture` that mends_of() takes account of.
[[nodiscard]] bool is_mended_tensor(const GgufHeader& header, const std::string& name);

}  // namespace ahead::model
