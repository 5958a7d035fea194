// From GGUF metadata to a compiled tokenizer. May use: std, OpenVINO.
#include "text/gguf_tokenizer.h"

#include "text/compiled_tokenizer.h"
#include "text/gguf_graph.h"
#include "text/gguf_vocabulary.h"
#include "text/node_factory.h"

namespace ahead::text {

std::unique_ptr<Tokenizer> make_gguf_tokenizer(const ov::AnyMap& metadata,
                                               const TokenizerOptions& options) {
  const GgufVocabulary vocabulary = read_gguf_vocabulary(metadata);
  const NodeFactory factory(options.library.empty() ? default_tokenizers_library()
                                                    : options.library);
  return compile_tokenizer({.encoder = make_encoder(vocabulary, factory),
                            .decoder = make_decoder(vocabulary, factory),
                            .end_tokens = vocabulary.end_tokens});
}

}  // namespace ahead::text
