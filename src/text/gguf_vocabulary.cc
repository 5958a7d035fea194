// Checking and spelling out a GGUF vocabulary. May use: std, OpenVINO, text/byte_level.
#include "text/gguf_vocabulary.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/gguf_metadata.h"

namespace ahead::text {
namespace {

/// Entries outside the alphabet stand for their own UTF-8.
std::string spell(std::string_view token) {
  std::optional<std::string> bytes = bytes_of_token(token);
  return bytes.has_value() ? std::move(*bytes) : std::string(token);
}

void read_tokens(const ov::AnyMap& metadata, const std::vector<std::int32_t>& types,
                 GgufVocabulary& vocabulary) {
  const auto& raw = required<std::vector<std::string>>(metadata, "tokens");
  vocabulary.tokens.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    // Special tokens are stored as they are written, not in the byte-level alphabet.
    const bool special = is_written_out(types[i]);
    vocabulary.tokens.push_back(special ? raw[i] : spell(raw[i]));
    if (special && !is_valid_utf8(raw[i])) {
      invalid_tokenizer("special token " + std::to_string(i) + " is not UTF-8");
    }
    if (special) vocabulary.written_out.push_back(raw[i]);
    if (types[i] == kUnknown || types[i] == kControl) {
      vocabulary.silent.push_back(static_cast<std::int32_t>(i));
    }
  }
}

void read_merges(const ov::AnyMap& metadata, GgufVocabulary& vocabulary) {
  const auto& raw = required<std::vector<std::string>>(metadata, "merges");
  const std::unordered_set<std::string_view> known(vocabulary.tokens.begin(),
                                                   vocabulary.tokens.end());
  const std::unordered_set<std::string_view> special(vocabulary.written_out.begin(),
                                                     vocabulary.written_out.end());
  vocabulary.merges.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t space = raw[i].find(' ');
    if (space == std::string::npos)
      invalid_tokenizer("merge " + std::to_string(i) + " is not a pair");
    std::string left = spell(std::string_view(raw[i]).substr(0, space));
    std::string right = spell(std::string_view(raw[i]).substr(space + 1));
    const std::string merged = left + right;
    if (!known.contains(left) || !known.contains(right) || !known.contains(merged)) {
      invalid_tokenizer("merge " + std::to_string(i) +
                        " has or makes a token that is not in the vocabulary");
    }
    // A special token is recognised before any merging, so merging can never be asked to make one.
    if (special.contains(merged)) continue;
    vocabulary.merges.emplace_back(std::move(left), std::move(right));
  }
}

/// The extension begins with the longest tokens that no merge makes, where byte pair encoding
/// begins with single bytes: whatever is neither a byte, nor special, nor made by a merge is out of
/// reach.
void hide_unreachable(const std::vector<std::int32_t>& types, GgufVocabulary& vocabulary) {
  std::unordered_set<std::string> reachable;
  reachable.reserve(vocabulary.merges.size());
  for (const auto& [left, right] : vocabulary.merges) reachable.insert(left + right);
  const std::unordered_set<std::string_view> special(vocabulary.written_out.begin(),
                                                     vocabulary.written_out.end());
  vocabulary.encoder_tokens = vocabulary.tokens;
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string& token = vocabulary.tokens[i];
    if (is_written_out(types[i])) continue;
    const bool stays = !special.contains(token) && (token.size() == 1 || reachable.contains(token));
    if (!stays) vocabulary.encoder_tokens[i].clear();
  }
}

}  // namespace

GgufVocabulary read_gguf_vocabulary(const ov::AnyMap& metadata) {
  const auto& model = required<std::string>(metadata, "model");
  if (model != "gpt2") {
    throw Error(
        ErrorKind::kUnsupportedModel,
        "the tokenizer " + in_quotes(model) +
            " (tokenizer.ggml.model) is not supported in GGUF files, only 'gpt2' (byte-level "
            "BPE) and 'llama' (SentencePiece) are; use an OpenVINO IR folder of this model, which "
            "brings its own tokenizer");
  }
  GgufVocabulary vocabulary;
  if (!metadata.contains("pre")) {
    throw Error(
        ErrorKind::kInvalidModel,
        "tokenizer.ggml.pre is missing, as in GGUF files from before May 2024, and without it "
        "texts would be cut into other tokens; convert the original model again, or use an "
        "OpenVINO IR folder of it, which brings its own tokenizer");
  }
  vocabulary.pre = pre_tokenizer(required<std::string>(metadata, "pre"));
  const std::size_t count = required<std::vector<std::string>>(metadata, "tokens").size();
  if (count == 0) invalid_tokenizer("it has no tokens");
  const std::vector<std::int32_t> types = token_types(metadata, count);
  read_tokens(metadata, types, vocabulary);
  read_merges(metadata, vocabulary);
  hide_unreachable(types, vocabulary);
  vocabulary.prefix = first_token(metadata, count, vocabulary.pre.first_token);
  vocabulary.end_tokens =
      end_tokens_of(metadata, required<std::vector<std::string>>(metadata, "tokens"), types);
  return vocabulary;
}

}  // namespace ahead::text
