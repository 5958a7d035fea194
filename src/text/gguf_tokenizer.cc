// From GGUF metadata to a compiled tokenizer. May use: std, OpenVINO.
#include "text/gguf_tokenizer.h"

#include <exception>
#include <string>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "text/compiled_tokenizer.h"
#include "text/gguf_graph.h"
#include "text/gguf_vocabulary.h"
#include "text/node_factory.h"
#include "text/own_tokenizers.h"
#include "text/piece_splitter.h"
#include "text/spm_vocabulary.h"

namespace ahead::text {

std::unique_ptr<Tokenizer> make_gguf_tokenizer(const ov::AnyMap& metadata,
                                               const TokenizerOptions& options) {
  const auto model = metadata.find("model");
  if (model != metadata.end() && model->second.is<std::string>() &&
      model->second.as<std::string>() == "llama") {
    return make_spm_tokenizer(read_spm_vocabulary(metadata));
  }
  const GgufVocabulary vocabulary = read_gguf_vocabulary(metadata);
  const NodeFactory factory(options.library.empty() ? default_tokenizers_library()
                                                    : options.library);
  try {
    prove_patterns(vocabulary.pre, factory);
    if (vocabulary.pre.own_merging) return make_piece_tokenizer(vocabulary, factory);
    return compile_tokenizer({.encoder = make_encoder(vocabulary, factory),
                              .decoder = make_decoder(vocabulary, factory),
                              .prefix = vocabulary.prefix,
                              .end_tokens = vocabulary.end_tokens});
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    const std::string what = "the GGUF file's tokenizer cannot be run";
    throw_if_short(cause, what);
    throw Error(ErrorKind::kInvalidModel,
                what + ": " + printable(reason_of(cause.what())) + "; convert the model again");
  }
}

}  // namespace ahead::text
