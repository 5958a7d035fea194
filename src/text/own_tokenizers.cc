// See own_tokenizers.h. May use: std, OpenVINO.
#include "text/own_tokenizers.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "text/bpe_encoder.h"
#include "text/piece_splitter.h"

namespace ahead::text {
namespace {

class PieceTokenizer final : public Tokenizer {
 public:
  PieceTokenizer(const GgufVocabulary& vocabulary, const NodeFactory& factory)
      : splitter_(vocabulary, factory),
        encoder_({.tokens = vocabulary.tokens,
                  .merges = vocabulary.merges,
                  .whole_pieces = vocabulary.pre.whole_pieces}),
        tokens_(vocabulary.tokens),
        silent_(vocabulary.silent.begin(), vocabulary.silent.end()),
        prefix_(vocabulary.prefix),
        end_tokens_(vocabulary.end_tokens) {
    const std::unordered_set<std::string> written(vocabulary.written_out.begin(),
                                                  vocabulary.written_out.end());
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      if (!written.contains(tokens_[id])) continue;
      special_.emplace(tokens_[id], static_cast<std::int32_t>(id));
    }
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    if (text.empty()) return ids;
    // The extension's regular expressions are undefined on anything but UTF-8.
    for (const std::string& piece : pieces_of(to_valid_utf8(text))) {
      const auto special = special_.find(piece);
      if (special != special_.end()) {
        ids.push_back(special->second);
      } else {
        encoder_.encode(piece, ids);
      }
    }
    return ids;
  }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      const bool known = id >= 0 && static_cast<std::size_t>(id) < tokens_.size();
      if (known && !silent_.contains(id)) text += tokens_[static_cast<std::size_t>(id)];
    }
    return text;
  }

  std::vector<std::int32_t> prefix() const override { return prefix_; }
  const std::vector<std::int32_t>& end_tokens() const override { return end_tokens_; }

 private:
  [[nodiscard]] std::vector<std::string> pieces_of(const std::string& text) const {
    try {
      return splitter_.split(text);
    } catch (const ov::Exception& cause) {
      const std::string what = "the model's tokenizer failed to encode";
      throw_if_short(cause, what);
      throw Error(ErrorKind::kInvalidModel,
                  what + ": " + printable(reason_of(cause.what())) + "; convert the model again");
    }
  }

  const PieceSplitter splitter_;
  const BpeEncoder encoder_;
  const std::vector<std::string> tokens_;
  const std::unordered_set<std::int32_t> silent_;
  const std::vector<std::int32_t> prefix_;
  const std::vector<std::int32_t> end_tokens_;
  std::unordered_map<std::string, std::int32_t> special_;
};

class SpmTokenizer final : public Tokenizer {
 public:
  explicit SpmTokenizer(SpmVocabulary vocabulary)
      : encoder_(std::move(vocabulary.encoder)),
        prefix_(std::move(vocabulary.prefix)),
        end_tokens_(std::move(vocabulary.end_tokens)) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    return encoder_.encode(to_valid_utf8(text));
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    return encoder_.decode(ids.data(), ids.size());
  }
  std::vector<std::int32_t> prefix() const override { return prefix_; }
  const std::vector<std::int32_t>& end_tokens() const override { return end_tokens_; }

 private:
  const SpmEncoder encoder_;
  const std::vector<std::int32_t> prefix_;
  const std::vector<std::int32_t> end_tokens_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_piece_tokenizer(const GgufVocabulary& vocabulary,
                                                const NodeFactory& factory) {
  return std::make_unique<PieceTokenizer>(vocabulary, factory);
}

std::unique_ptr<Tokenizer> make_spm_tokenizer(SpmVocabulary vocabulary) {
  return std::make_unique<SpmTokenizer>(std::move(vocabulary));
}

}  // namespace ahead::text
