// Text out of a stream of tokens, in whole characters. May use: std.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ahead::text {

/// Turns tokens into text one by one. Never gives out a part of a character; bytes that are no
/// UTF-8 come out as U+FFFD. Each token is decoded next to the last one that had text and to
/// nothing before it, so the cost of a token does not grow with the text. One thread at a time.
class Utf8Stream {
 public:
  /// Bytes of some ids; may end inside a character. As Tokenizer::decode.
  using Decode = std::function<std::string(std::span<const std::int32_t> ids)>;

  /// `behind`: the token in front of the stream's first, such as a prompt's last, whose text is not
  /// given out.
  explicit Utf8Stream(Decode decode, std::optional<std::int32_t> behind = std::nullopt);

  /// The text that became complete with `id`; often empty inside a character.
  [[nodiscard]] std::string push(std::int32_t id);

  /// What was held back: U+FFFD when the stream ended inside a character, else nothing.
  [[nodiscard]] std::string flush();

 private:
  [[nodiscard]] std::string bytes_of(std::int32_t id);

  Decode decode_;
  /// Decoders may write a token differently at the beginning of a text (SentencePiece drops the
  /// leading space), so a token's bytes are what it adds behind its predecessor.
  std::vector<std::int32_t> anchor_;  ///< one, but for those without text at the beginning
  std::string anchor_text_;
  std::string pending_;  // at most 3 bytes: the beginning of a character
};

}  // namespace ahead::text
