// The tokenizer of an OpenVINO IR folder. May use: std; the .cc OpenVINO.
#pragma once

#include <filesystem>
#include <memory>

#include "text/tokenizer.h"
#include "text/tokenizers_library.h"

namespace ahead::text {

/// Loads openvino_tokenizer.xml and openvino_detokenizer.xml from `folder`. What they would add or
/// leave out beyond Tokenizer's contract is taken out of the graphs: tokens put round the text,
/// truncation, the dropping of bytes that are no whole character; special tokens have no text.
/// Bytes the vocabulary lacks become whatever unknown token the folder names. End tokens come from
/// the tokenizer, generation_config.json and config.json together.
///
/// Throws Error(kInvalidModel) when a file is missing or broken, Error(kUnsupportedModel) for the
/// SentencePiece operations, Error(kInvalidArgument) for the library.
[[nodiscard]] std::unique_ptr<Tokenizer> make_ir_tokenizer(const std::filesystem::path& folder,
                                                           const TokenizerOptions& options = {});

}  // namespace ahead::text
