// Text to token ids and back, through the OpenVINO tokenizers extension. This header is free of
// OpenVINO; the .cc files behind it are not. May use: base, OpenVINO.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ahead::text {

/// Immutable once built; every call is thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Token ids of `text`; special tokens written out in it become their ids; nothing is added.
  [[nodiscard]] virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;

  /// Bytes of `ids`, special tokens left out. May end inside a UTF-8 character.
  [[nodiscard]] virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

  /// Tokens the model expects in front of every text, which encode() does not add; empty when there
  /// are none.
  [[nodiscard]] virtual std::vector<std::int32_t> prefix() const = 0;

  /// Tokens that end generation.
  [[nodiscard]] virtual const std::vector<std::int32_t>& end_tokens() const = 0;
};

}  // namespace ahead::text
