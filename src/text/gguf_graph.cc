// Tokenizer graphs out of the extension's operations. Several strings are carried as three tensors:
// where each begins, where it ends, and all bytes. May use: std, OpenVINO, text/pre_tokenizer.
#include "text/gguf_graph.h"

#include <cstdint>
#include <cstring>
#include <openvino/op/constant.hpp>
#include <openvino/op/parameter.hpp>
#include <string>
#include <vector>

#include "text/pre_tokenizer.h"

namespace ahead::text {
namespace {

using ov::op::v0::Constant;
using ov::op::v0::Parameter;

/// Stands for "no unknown token": the extension looks this up, and must not find it, when a byte is
/// not in the vocabulary.
constexpr const char* kNoToken = "\xFF\xFE\xFF\xFE no token";

ov::Output<ov::Node> ints(const std::vector<std::int32_t>& values) {
  return Constant::create(ov::element::i32, {values.size()}, values);
}

ov::Output<ov::Node> bytes(const std::string& text) {
  return std::make_shared<Constant>(ov::element::u8, ov::Shape{text.size()}, text.data());
}

void append(ov::OutputVector& to, const ov::OutputVector& more) {
  to.insert(to.end(), more.begin(), more.end());
}

ov::OutputVector strings(const std::vector<std::string>& texts) {
  std::vector<std::int32_t> begins;
  std::vector<std::int32_t> ends;
  std::string all;
  for (const std::string& text : texts) {
    begins.push_back(static_cast<std::int32_t>(all.size()));
    all += text;
    ends.push_back(static_cast<std::int32_t>(all.size()));
  }
  return {ints(begins), ints(ends), bytes(all)};
}

/// Brings pieces into composed form but for the finished ones, special tokens. The operation takes
/// pieces without their rows.
ov::OutputVector compose_characters(const ov::OutputVector& pieces, const NodeFactory& factory) {
  ov::OutputVector composed(pieces.begin(), pieces.begin() + 2);
  append(composed,
         factory.create_registered("CharsMapNormalization", {pieces.begin() + 2, pieces.end()},
                                   {{"normalization_form", std::string("nfc")},
                                    {"add_dummy_prefix", false},
                                    {"remove_extra_whitespaces", false},
                                    {"escape_whitespaces", false},
                                    {"case_fold", false},
                                    {"nmt", false}}));
  return composed;
}

/// The text as one row of pieces: where rows begin and end, where pieces do, and all bytes.
ov::OutputVector split(const std::shared_ptr<Parameter>& input, const GgufVocabulary& vocabulary,
                       const NodeFactory& factory) {
  // At first one piece.
  ov::OutputVector pieces = {ints({0}), ints({1})};
  append(pieces, factory.create("StringTensorUnpack", {input}));

  // Also without special tokens: the operation adds the mask of finished pieces, and without that
  // mask a second RegexSplit reads beyond its input.
  pieces.push_back(bytes(special_tokens_pattern(vocabulary.written_out)));
  pieces = factory.create("SpecialTokensSplit", pieces);
  if (vocabulary.pre.composes) pieces = compose_characters(pieces, factory);
  for (const std::string& pattern : vocabulary.pre.patterns) {
    pieces.push_back(bytes(pattern));
    pieces = factory.create("RegexSplit", pieces,
                            {{"behaviour", std::string("isolate")}, {"invert", false}});
  }
  pieces.resize(5);  // the mask has done its work
  return pieces;
}

}  // namespace

// In all graphs the input's shape is dynamic though there is always one text: where it is static
// the CPU device takes the shapes behind it for known and keeps those of an earlier text.

std::shared_ptr<ov::Model> make_splitter(const GgufVocabulary& vocabulary,
                                         const NodeFactory& factory) {
  const auto input = std::make_shared<Parameter>(ov::element::string, ov::PartialShape{-1});
  const ov::OutputVector pieces = split(input, vocabulary, factory);
  return std::make_shared<ov::Model>(ov::OutputVector{pieces.at(2), pieces.at(3), pieces.at(4)},
                                     ov::ParameterVector{input}, "splitter");
}

std::shared_ptr<ov::Model> make_encoder(const GgufVocabulary& vocabulary,
                                        const NodeFactory& factory) {
  const auto input = std::make_shared<Parameter>(ov::element::string, ov::PartialShape{-1});
  ov::OutputVector pieces = split(input, vocabulary, factory);

  std::vector<std::string> lefts;
  std::vector<std::string> rights;
  for (const auto& [left, right] : vocabulary.merges) {
    lefts.push_back(left);
    rights.push_back(right);
  }
  append(pieces, strings(vocabulary.encoder_tokens));
  append(pieces, strings(lefts));
  append(pieces, strings(rights));
  const ov::OutputVector ids = factory.create("BPETokenizer", pieces,
                                              {{"unk_token", std::string(kNoToken)},
                                               {"fuse_unk", false},
                                               {"suffix_indicator", std::string()},
                                               {"end_suffix", std::string()},
                                               {"byte_fallback", false}});
  // Begins and ends of the one row say nothing new.
  return std::make_shared<ov::Model>(ov::OutputVector{ids.at(2)}, ov::ParameterVector{input},
                                     "encoder");
}

std::shared_ptr<ov::Model> make_decoder(const GgufVocabulary& vocabulary,
                                        const NodeFactory& factory) {
  const auto input = std::make_shared<Parameter>(ov::element::i32, ov::PartialShape{-1, -1});
  ov::OutputVector inputs = {input};
  append(inputs, strings(vocabulary.tokens));
  inputs.push_back(ints(vocabulary.silent));
  ov::OutputVector texts = factory.create("VocabDecoder", inputs);
  const ov::Output<ov::Node> all_bytes = texts.at(4);
  texts.pop_back();
  ov::OutputVector text = factory.create("FuzeRagged", texts);
  text.push_back(all_bytes);
  return std::make_shared<ov::Model>(factory.create("StringTensorPack", text),
                                     ov::ParameterVector{input}, "decoder");
}

}  // namespace ahead::text
