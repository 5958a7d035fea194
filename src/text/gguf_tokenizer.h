// A tokenizer out of a GGUF file's metadata. May use: std, OpenVINO.
#pragma once

#include <memory>
#include <openvino/core/any.hpp>

#include "text/tokenizer.h"
#include "text/tokenizers_library.h"

namespace ahead::text {

/// Builds the tokenizer from what the GGUF frontend leaves in the converted model's rt_info:
/// `GGUFTokenizerMetadata::config` under `gguf_tokenizer_metadata_key()`.
///
/// Supported are byte-level BPE vocabularies (tokenizer.ggml.model "gpt2") with the pre-tokenizers
/// of pre_tokenizer.h, and SentencePiece's BPE ("llama"). Texts of the group "qwen2" are brought
/// into composed form (NFC) by the extension's table, which does not sort combining marks that
/// stand in no canonical order. Bytes the vocabulary lacks are left out, as in the original;
/// SmolLM2 lacks six control characters and the lead bytes of planes 4 to 11. In text that is not
/// UTF-8 every fault is read as U+FFFD. What is a letter, a number or a space is decided by the
/// extension's version of Unicode (16).
///
/// Throws Error(kUnsupportedModel) naming the tokenizer or pre-tokenizer that is not supported,
/// Error(kInvalidModel) for broken metadata, Error(kInvalidArgument) for the library.
[[nodiscard]] std::unique_ptr<Tokenizer> make_gguf_tokenizer(const ov::AnyMap& metadata,
                                                             const TokenizerOptions& options = {});

}  // namespace ahead::text
