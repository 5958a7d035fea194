// See spm_vocabulary.h. May use: std, OpenVINO.
#include "text/spm_vocabulary.h"

#include <cmath>
#include <openvino/runtime/tensor.hpp>
#include <string>

#include "ahead/error.h"
#include "base/utf8.h"
#include "text/gguf_metadata.h"

namespace ahead::text {
namespace {

std::vector<float> scores_of(const ov::AnyMap& metadata, std::size_t tokens) {
  const auto& tensor = required<ov::Tensor>(metadata, "scores");
  if (tensor.get_element_type() != ov::element::f32 || tensor.get_size() != tokens) {
    invalid_tokenizer("tokenizer.ggml.scores has " + std::to_string(tensor.get_size()) +
                      " entries of " + tensor.get_element_type().get_type_name() + " for " +
                      std::to_string(tokens) + " tokens");
  }
  const auto* first = tensor.data<const float>();
  return {first, first + tokens};
}

SpmEncoder::Kind kind_of(std::int32_t type) {
  switch (type) {
    case kUnknown:
      return SpmEncoder::Kind::kUnknown;
    case kControl:
      return SpmEncoder::Kind::kControl;
    case kUserDefined:
      return SpmEncoder::Kind::kUserDefined;
    case kUnused:
      return SpmEncoder::Kind::kUnused;
    case kByte:
      return SpmEncoder::Kind::kByte;
    default:
      return SpmEncoder::Kind::kNormal;
  }
}

}  // namespace

SpmVocabulary read_spm_vocabulary(const ov::AnyMap& metadata) {
  const auto& texts = required<std::vector<std::string>>(metadata, "tokens");
  if (texts.empty()) invalid_tokenizer("it has no tokens");
  if (flag(metadata, "remove_extra_whitespaces")) {
    throw Error(ErrorKind::kUnsupportedModel,
                "tokenizer.ggml.remove_extra_whitespaces is set, and texts are encoded as they are "
                "here; use an OpenVINO IR folder of this model, which brings its own tokenizer");
  }
  const std::vector<std::int32_t> types = token_types(metadata, texts.size());
  const std::vector<float> scores = scores_of(metadata, texts.size());
  SpmVocabulary vocabulary;
  vocabulary.encoder.space_in_front = flag(metadata, "add_space_prefix", true);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!is_valid_utf8(texts[i])) invalid_tokenizer("token " + std::to_string(i) + " is not UTF-8");
    if (std::isnan(scores[i])) {
      invalid_tokenizer("the score of token " + std::to_string(i) + " is no number");
    }
    vocabulary.encoder.tokens.push_back(
        {.text = texts[i], .score = scores[i], .kind = kind_of(types[i])});
  }
  vocabulary.prefix = first_token(metadata, texts.size(), true);
  vocabulary.end_tokens = end_tokens_of(metadata, texts, types);
  return vocabulary;
}

}  // namespace ahead::text
