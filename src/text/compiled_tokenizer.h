// A tokenizer made of two OpenVINO models. May use: std, OpenVINO.
#pragma once

#include <cstdint>
#include <memory>
#include <openvino/core/model.hpp>
#include <vector>

#include "text/tokenizer.h"

namespace ahead::text {

/// What a tokenizer is compiled from.
struct TokenizerModels {
  /// One string in, its ids out in whatever shape.
  std::shared_ptr<ov::Model> encoder;
  /// Ids [1, n] in, one string out whose bytes are the tokens' bytes.
  std::shared_ptr<ov::Model> decoder;
  std::vector<std::int32_t> prefix;
  std::vector<std::int32_t> end_tokens;
  /// Adds to the end tokens those that are known by their names: tokens that are one id and have no
  /// text.
  bool find_end_tokens = false;
};

/// Compiles both models for one thread of the CPU.
[[nodiscard]] std::unique_ptr<Tokenizer> compile_tokenizer(const TokenizerModels& models);

}  // namespace ahead::text
