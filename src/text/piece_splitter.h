// A text cut into pieces by the tokenizers extension. May use: std, OpenVINO.
#pragma once

#include <memory>
#include <mutex>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/gguf_vocabulary.h"
#include "text/node_factory.h"

namespace ahead::text {

/// Thread-safe; one caller at a time.
class PieceSplitter {
 public:
  PieceSplitter(const GgufVocabulary& vocabulary, const NodeFactory& factory);

  /// Pieces of `text`, valid UTF-8, in order; special tokens are pieces.
  [[nodiscard]] std::vector<std::string> split(std::string_view text) const;

 private:
  mutable std::mutex mutex_;
  ov::CompiledModel compiled_;
  mutable ov::InferRequest request_;  // guarded by mutex_
};

/// Throws Error(kUnsupportedModel) unless the extension runs the expressions of `pre`: it takes one
/// that does not compile for none, without a word.
void prove_patterns(const PreTokenizer& pre, const NodeFactory& factory);

}  // namespace ahead::text
