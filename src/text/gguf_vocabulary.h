// The tokenizer metadata of a GGUF file, checked and spelt out in bytes. May use: std, OpenVINO.
#pragma once

#include <cstdint>
#include <openvino/core/any.hpp>
#include <string>
#include <utility>
#include <vector>

#include "text/pre_tokenizer.h"

namespace ahead::text {

/// A byte-level BPE vocabulary as the tokenizers extension needs it.
struct GgufVocabulary {
  /// Bytes of every token; a token's id is its index.
  std::vector<std::string> tokens;
  /// The same with those left empty that byte pair encoding must never meet.
  std::vector<std::string> encoder_tokens;
  /// Bytes left and right, the most urgent first.
  std::vector<std::pair<std::string, std::string>> merges;
  /// Tokens that are recognised when they are written out in a text.
  std::vector<std::string> written_out;
  /// Tokens that have no text when decoded.
  std::vector<std::int32_t> silent;
  /// Tokens the model expects in front of every text.
  std::vector<std::int32_t> prefix;
  /// Tokens that end generation.
  std::vector<std::int32_t> end_tokens;
  PreTokenizer pre;
};

/// Reads `metadata`, the GGUF frontend's tokenizer metadata. Throws Error(kUnsupportedModel) for a
/// tokenizer that is no byte-level BPE and Error(kInvalidModel) for one that contradicts itself.
[[nodiscard]] GgufVocabulary read_gguf_vocabulary(const ov::AnyMap& metadata);

}  // namespace ahead::text
