// The two models of a byte-level BPE tokenizer. May use: std, OpenVINO.
#pragma once

#include <memory>
#include <openvino/core/model.hpp>

#include "text/gguf_vocabulary.h"
#include "text/node_factory.h"

namespace ahead::text {

/// One string [1] in, its pieces out: where each begins and ends as i32 [n], and all bytes as u8.
/// Special tokens written out are pieces too.
[[nodiscard]] std::shared_ptr<ov::Model> make_splitter(const GgufVocabulary& vocabulary,
                                                       const NodeFactory& factory);

/// One string [1] in, its ids as i32 [n] out.
[[nodiscard]] std::shared_ptr<ov::Model> make_encoder(const GgufVocabulary& vocabulary,
                                                      const NodeFactory& factory);

/// Ids as i32 [1, n] in, one string [1] out.
[[nodiscard]] std::shared_ptr<ov::Model> make_decoder(const GgufVocabulary& vocabulary,
                                                      const NodeFactory& factory);

}  // namespace ahead::text
