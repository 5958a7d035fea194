// See gguf_metadata.h. May use: std, OpenVINO.
#include "text/gguf_metadata.h"

#include <algorithm>
#include <openvino/runtime/tensor.hpp>
#include <string_view>
#include <unordered_map>

#include "text/end_names.h"

namespace ahead::text {
namespace {

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
  if (!value) invalid_tokenizer("tokenizer.ggml." + key + " is not one integer");
  constexpr std::int64_t kNone = 0xFFFFFFFF;
  if (*value == -1 || *value == kNone) return std::nullopt;
  return value;
}

/// Control tokens by name. Some files mark ends as user-defined, which is recognised in texts and
/// never made by merging, like a control token.
std::unordered_map<std::string_view, std::int32_t> special_tokens(
    const std::vector<std::string>& texts, const std::vector<std::int32_t>& types) {
  std::unordered_map<std::string_view, std::int32_t> ids;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != kControl && types[i] != kUserDefined) continue;
    ids.emplace(texts[i], static_cast<std::int32_t>(i));
  }
  return ids;
}

}  // namespace

void invalid_tokenizer(const std::string& what) {
  throw Error(ErrorKind::kInvalidModel,
              "the GGUF file's tokenizer is broken: " + what + "; convert the model again");
}

bool flag(const ov::AnyMap& metadata, const std::string& key, bool otherwise) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return otherwise;
  if (found->second.is<bool>()) return found->second.as<bool>();
  if (found->second.is<ov::Tensor>()) {
    const auto& tensor = found->second.as<ov::Tensor>();
    // Some writers have no booleans, and store a number.
    if (tensor.get_size() == 1 && tensor.get_byte_size() == 1) {
      return *static_cast<const std::uint8_t*>(tensor.data()) != 0;
    }
    if (const auto value = integer_of(tensor)) return *value != 0;
  }
  invalid_tokenizer("tokenizer.ggml." + key + " is not a yes or no");
}

std::vector<std::int32_t> token_types(const ov::AnyMap& metadata, std::size_t tokens) {
  const auto& tensor = required<ov::Tensor>(metadata, "token_type");
  if (tensor.get_element_type() != ov::element::i32 || tensor.get_size() != tokens) {
    invalid_tokenizer("tokenizer.ggml.token_type has " + std::to_string(tensor.get_size()) +
                      " entries of " + tensor.get_element_type().get_type_name() + " for " +
                      std::to_string(tokens) + " tokens");
  }
  const auto* first = tensor.data<const std::int32_t>();
  return {first, first + tokens};
}

std::optional<std::int32_t> token_id(const ov::AnyMap& metadata, const std::string& key,
                                     std::size_t tokens) {
  const std::optional<std::int64_t> id = scalar(metadata, key);
  if (!id.has_value()) return std::nullopt;
  if (*id < 0 || *id >= static_cast<std::int64_t>(tokens)) {
    invalid_tokenizer("tokenizer.ggml." + key + " is " + std::to_string(*id) + " of " +
                      std::to_string(tokens) + " tokens");
  }
  return static_cast<std::int32_t>(*id);
}

std::vector<std::int32_t> first_token(const ov::AnyMap& metadata, std::size_t tokens,
                                      bool by_default) {
  if (!flag(metadata, "add_bos_token", by_default)) return {};
  const auto token = token_id(metadata, "bos_token_id", tokens);
  if (token.has_value()) return {*token};
  if (!flag(metadata, "add_bos_token")) return {};  // it is a default, not a wish
  invalid_tokenizer("it asks for a first token but has no tokenizer.ggml.bos_token_id");
}

std::vector<std::int32_t> end_tokens_of(const ov::AnyMap& metadata,
                                        const std::vector<std::string>& texts,
                                        const std::vector<std::int32_t>& types) {
  std::vector<std::int32_t> ends;
  const auto add = [&](std::int32_t id) {
    if (std::ranges::find(ends, id) == ends.end()) ends.push_back(id);
  };
  // End of sequence, of turn, of message.
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    const auto token = token_id(metadata, key, texts.size());
    if (token.has_value()) add(*token);
  }
  const auto special = special_tokens(texts, types);
  const auto named = named_end_tokens([&](std::string_view name) -> std::optional<std::int32_t> {
    const auto found = special.find(name);
    return found == special.end() ? std::nullopt : std::optional(found->second);
  });
  for (const std::int32_t id : named) add(id);
  return ends;
}

}  // namespace ahead::text
