// Checking and spelling out a GGUF vocabulary. May use: std, OpenVINO, text/byte_level.
#include "text/gguf_vocabulary.h"

#include <algorithm>
#include <cstddef>
#include <openvino/runtime/tensor.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/end_names.h"

namespace ahead::text {
namespace {

/// Values of tokenizer.ggml.token_type.
enum TokenType : std::int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

[[noreturn]] void invalid(const std::string& what) {
  throw Error(ErrorKind::kInvalidModel,
              "the GGUF file's tokenizer is broken: " + what + "; convert the model again");
}

template <typename T>
const T& required(const ov::AnyMap& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) invalid("tokenizer.ggml." + key + " is missing");
  if (!found->second.is<T>()) invalid("tokenizer.ggml." + key + " has the wrong type");
  return found->second.as<T>();
}

/// The one number of a tensor of integers.
std::optional<std::int64_t> integer_of(const ov::Tensor& tensor) {
  if (tensor.get_size() != 1) return std::nullopt;
  switch (tensor.get_element_type()) {
    case ov::element::u8:
      return *tensor.data<const std::uint8_t>();
    case ov::element::i8:
      return *tensor.data<const std::int8_t>();
    case ov::element::u16:
      return *tensor.data<const std::uint16_t>();
    case ov::element::i16:
      return *tensor.data<const std::int16_t>();
    case ov::element::u32:
      return *tensor.data<const std::uint32_t>();
    case ov::element::i32:
      return *tensor.data<const std::int32_t>();
    case ov::element::u64:
      return static_cast<std::int64_t>(*tensor.data<const std::uint64_t>());
    case ov::element::i64:
      return *tensor.data<const std::int64_t>();
    default:
      return std::nullopt;
  }
}

/// A scalar such as eos_token_id. All ones, in 32 bits or 64, is how writers say "none".
std::optional<std::int64_t> scalar(const ov::AnyMap& metadata, const std::string& key) {
  if (!metadata.contains(key)) return std::nullopt;
  const auto value = integer_of(required<ov::Tensor>(metadata, key));
  if (!value) invalid("tokenizer.ggml." + key + " is not one integer");
  constexpr std::int64_t kNone = 0xFFFFFFFF;
  if (*value == -1 || *value == kNone) return std::nullopt;
  return value;
}

/// A yes or no such as add_bos_token; no when it is not there.
bool flag(const ov::AnyMap& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return false;
  if (found->second.is<bool>()) return found->second.as<bool>();
  if (found->second.is<ov::Tensor>()) {
    const auto& tensor = found->second.as<ov::Tensor>();
    // Some writers have no booleans, and store a number.
    if (tensor.get_size() == 1 && tensor.get_byte_size() == 1) {
      return *static_cast<const std::uint8_t*>(tensor.data()) != 0;
    }
    if (const auto value = integer_of(tensor)) return *value != 0;
  }
  invalid("tokenizer.ggml." + key + " is not a yes or no");
}

std::vector<std::int32_t> token_types(const ov::AnyMap& metadata, std::size_t tokens) {
  const auto& tensor = required<ov::Tensor>(metadata, "token_type");
  if (tensor.get_element_type() != ov::element::i32 || tensor.get_size() != tokens) {
    invalid("tokenizer.ggml.token_type has " + std::to_string(tensor.get_size()) + " entries of " +
            tensor.get_element_type().get_type_name() + " for " + std::to_string(tokens) +
            " tokens");
  }
  const auto* first = tensor.data<const std::int32_t>();
  return {first, first + tokens};
}

bool is_written_out(std::int32_t type) {
  return type == kUnknown || type == kControl || type == kUserDefined;
}

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
      invalid("special token " + std::to_string(i) + " is not UTF-8");
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
    if (space == std::string::npos) invalid("merge " + std::to_string(i) + " is not a pair");
    std::string left = spell(std::string_view(raw[i]).substr(0, space));
    std::string right = spell(std::string_view(raw[i]).substr(space + 1));
    const std::string merged = left + right;
    if (!known.contains(left) || !known.contains(right) || !known.contains(merged)) {
      invalid("merge " + std::to_string(i) + " has or makes a token that is not in the vocabulary");
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

/// A token's id, checked against the vocabulary.
std::optional<std::int32_t> token_id(const ov::AnyMap& metadata, const std::string& key,
                                     const GgufVocabulary& vocabulary) {
  const std::optional<std::int64_t> id = scalar(metadata, key);
  if (!id.has_value()) return std::nullopt;
  if (*id < 0 || *id >= static_cast<std::int64_t>(vocabulary.tokens.size())) {
    invalid("tokenizer.ggml." + key + " is " + std::to_string(*id) + " of " +
            std::to_string(vocabulary.tokens.size()) + " tokens");
  }
  return static_cast<std::int32_t>(*id);
}

void read_prefix(const ov::AnyMap& metadata, GgufVocabulary& vocabulary) {
  if (!flag(metadata, "add_bos_token")) return;
  const auto token = token_id(metadata, "bos_token_id", vocabulary);
  if (!token.has_value())
    invalid("it asks for a first token but has no tokenizer.ggml.bos_token_id");
  vocabulary.prefix = {*token};
}

/// The special tokens by name. Some files mark ends as user-defined, which is recognised in texts
/// and never made by merging, like a control token.
std::unordered_map<std::string_view, std::int32_t> special_tokens(
    const std::vector<std::int32_t>& types, const GgufVocabulary& vocabulary) {
  std::unordered_map<std::string_view, std::int32_t> ids;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != kControl && types[i] != kUserDefined) continue;
    ids.emplace(vocabulary.tokens[i], static_cast<std::int32_t>(i));
  }
  return ids;
}

void add_end_token(std::int32_t id, GgufVocabulary& vocabulary) {
  auto& ends = vocabulary.end_tokens;
  if (std::ranges::find(ends, id) == ends.end()) ends.push_back(id);
}

void read_end_tokens(const ov::AnyMap& metadata, const std::vector<std::int32_t>& types,
                     GgufVocabulary& vocabulary) {
  // End of sequence, of turn, of message.
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    const auto token = token_id(metadata, key, vocabulary);
    if (token.has_value()) add_end_token(*token, vocabulary);
  }
  const auto special = special_tokens(types, vocabulary);
  const auto named = named_end_tokens([&](std::string_view name) -> std::optional<std::int32_t> {
    const auto found = special.find(name);
    return found == special.end() ? std::nullopt : std::optional(found->second);
  });
  for (const std::int32_t id : named) add_end_token(id, vocabulary);
}

}  // namespace

GgufVocabulary read_gguf_vocabulary(const ov::AnyMap& metadata) {
  const auto& model = required<std::string>(metadata, "model");
  if (model != "gpt2") {
    throw Error(
        ErrorKind::kUnsupportedModel,
        "the tokenizer " + in_quotes(model) +
            " (tokenizer.ggml.model) is not supported in GGUF files, only 'gpt2' (byte-level "
            "BPE) is; use an OpenVINO IR folder of this model, which brings its own tokenizer");
  }
  GgufVocabulary vocabulary;
  if (!metadata.contains("pre")) {
    throw Error(
        ErrorKind::kInvalidModel,
        "tokenizer.ggml.pre is missing, as in GGUF files from before May 2024, and without it "
        "texts would be cut into other tokens; convert the original model again, or use an "
        "OpenVINO IR folder of it, which brings its own tokenizer");
  }
  vocabulary.pre = required<std::string>(metadata, "pre");
  const std::size_t count = required<std::vector<std::string>>(metadata, "tokens").size();
  if (count == 0) invalid("it has no tokens");
  const std::vector<std::int32_t> types = token_types(metadata, count);
  read_tokens(metadata, types, vocabulary);
  read_merges(metadata, vocabulary);
  hide_unreachable(types, vocabulary);
  read_prefix(metadata, vocabulary);
  read_end_tokens(metadata, types, vocabulary);
  return vocabulary;
}

}  // namespace ahead::text
