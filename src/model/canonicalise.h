// From a reader's stateless graph to the canonical Decoder: finds each attention and its cache,
// and refuses by name what cannot be cut. May use: base, OpenVINO.
#pragma once

#include <memory>
#include <string>

#include "model/decoder.h"
#include "model/rope.h"
#include "openvino/core/model.hpp"

namespace ahead::model {

/// What a reader knows that the graph does not say.
struct SourceFacts {
  std::string architecture;     ///< for messages and facts
  std::string tokens_input;     ///< name of the token id input
  std::string positions_input;  ///< name of the position input
  /// Name of the input that selects the tokens whose logits are wanted; empty when there is none.
  std::string logit_rows_input;
  /// Name of the input that carries the caller's causal mask; empty when the graph computes it.
  std::string mask_input;
  /// Likewise of the mask of layers with a window, and that window; 0: there is none.
  std::string window_mask_input = {};
  std::int64_t window = 0;
  /// Where the graph's rotations are wrong.
  RopeMends rotations = {};
  std::int64_t trained_context = 0;  ///< as the file says; 0: it does not
  /// Shape to which the flattened token ids and positions are brought, one -1 for the tokens.
  std::vector<std::int64_t> token_shape;
};

/// `tokens` of context, or 0, "unknown", for a number no model has.
[[nodiscard]] std::int64_t plausible_context(std::int64_t tokens);

/// Consumes `graph`. Throws Error(kUnsupportedModel) naming the architecture and the reason.
[[nodiscard]] Decoder canonicalise(const std::shared_ptr<ov::Model>& graph,
                                   const SourceFacts& facts);

}  // namespace ahead::model
