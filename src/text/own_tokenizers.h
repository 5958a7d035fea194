// Tokenizers whose merging is Ahead's own, because the extension's cannot do it. May use: std,
// OpenVINO.
#pragma once

#include <memory>

#include "text/gguf_vocabulary.h"
#include "text/node_factory.h"
#include "text/spm_vocabulary.h"
#include "text/tokenizer.h"

namespace ahead::text {

/// Byte-level BPE whose pieces are looked up whole before they are merged (bpe_encoder.h); the
/// extension cuts texts into pieces.
[[nodiscard]] std::unique_ptr<Tokenizer> make_piece_tokenizer(const GgufVocabulary& vocabulary,
                                                              const NodeFactory& factory);

/// SentencePiece (spm_encoder.h).
[[nodiscard]] std::unique_ptr<Tokenizer> make_spm_tokenizer(SpmVocabulary vocabulary);

}  // namespace ahead::text
