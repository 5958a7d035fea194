// The metadata of a GGUF file's SentencePiece tokenizer, checked. May use: std, OpenVINO.
#pragma once

#include <cstdint>
#include <openvino/core/any.hpp>
#include <vector>

#include "text/spm_encoder.h"

namespace ahead::text {

struct SpmVocabulary {
  SpmEncoder::Options encoder;
  std::vector<std::int32_t> prefix;  ///< tokens the model expects in front of every text
  std::vector<std::int32_t> end_tokens;
};

/// Reads `metadata`, whose tokenizer.ggml.model is "llama". Throws Error(kInvalidModel) where it
/// contradicts itself, and Error(kUnsupportedModel) where it asks for what is not done.
[[nodiscard]] SpmVocabulary read_spm_vocabulary(const ov::AnyMap& metadata);

}  // namespace ahead::text
