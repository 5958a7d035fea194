// Reading the GGUF frontend's tokenizer metadata: what is there has the type that it must have.
// May use: std, OpenVINO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <openvino/core/any.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ahead/error.h"

namespace ahead::text {

/// Values of tokenizer.ggml.token_type.
enum TokenType : std::int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

/// Recognised when it is written out in a text.
[[nodiscard]] constexpr bool is_written_out(std::int32_t type) {
  return type == kUnknown || type == kControl || type == kUserDefined;
}

/// Throws Error(kInvalidModel): "the GGUF file's tokenizer is broken: `what`; ...".
[[noreturn]] void invalid_tokenizer(const std::string& what);

/// The value of tokenizer.ggml.`key`. Throws Error(kInvalidModel) where it is missing or of another
/// type.
template <typename T>
const T& required(const ov::AnyMap& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) invalid_tokenizer("tokenizer.ggml." + key + " is missing");
  if (!found->second.is<T>()) invalid_tokenizer("tokenizer.ggml." + key + " has the wrong type");
  return found->second.as<T>();
}

/// A yes or no such as add_bos_token; `otherwise` when it is not there.
[[nodiscard]] bool flag(const ov::AnyMap& metadata, const std::string& key, bool otherwise = false);

/// tokenizer.ggml.token_type of `tokens` tokens.
[[nodiscard]] std::vector<std::int32_t> token_types(const ov::AnyMap& metadata, std::size_t tokens);

/// The id under `key`, such as eos_token_id, of a vocabulary of `tokens`; nothing where there is
/// none or the file says "none".
[[nodiscard]] std::optional<std::int32_t> token_id(const ov::AnyMap& metadata,
                                                   const std::string& key, std::size_t tokens);

/// The first token, where the file asks for one, or does not say and `by_default` holds.
[[nodiscard]] std::vector<std::int32_t> first_token(const ov::AnyMap& metadata, std::size_t tokens,
                                                    bool by_default);

/// Tokens that end generation: those that the file names, and those that are known by their names
/// (end_names.h). `texts` are the tokens as the file has them.
[[nodiscard]] std::vector<std::int32_t> end_tokens_of(const ov::AnyMap& metadata,
                                                      const std::vector<std::string>& texts,
                                                      const std::vector<std::int32_t>& types);

}  // namespace ahead::text
