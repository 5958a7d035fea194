// How a text is cut into pieces before byte pair encoding, as regular expressions in the syntax of
// PCRE2, which the tokenizers extension uses. May use: std, ahead/error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahead::text {

/// What a name in tokenizer.ggml.pre stands for. Names of one group are the same but for the name.
struct PreTokenizer {
  std::string group;
  /// Applied one after the other; every match and every stretch between two becomes a piece.
  std::vector<std::string> patterns;
  bool composes = false;      ///< texts are brought into Unicode's composed form (NFC) first
  bool whole_pieces = false;  ///< a piece that is a token is that token, whatever merging makes
  /// Merging is Ahead's own (bpe_encoder.h): pieces are looked up whole, or the extension makes no
  /// tokens of such a vocabulary.
  bool own_merging = false;
  bool first_token = false;  ///< a first token is put in front where the file does not say
  /// Pieces of kPatternProbe: an expression that does not compile splits nothing, without a word.
  std::vector<std::string> probe_pieces;
};

/// A text on which every expression of every group does something.
inline constexpr std::string_view kPatternProbe = "ab's 1234 !?\n  c\u6F22x";

/// The names and their groups are llama.cpp's (src/llama-vocab.cpp); that pieces of gpt-4o are
/// looked up whole is tiktoken's. Throws Error(kUnsupportedModel), listing what is
/// known, for another name.
[[nodiscard]] PreTokenizer pre_tokenizer(std::string_view pre);

/// An expression that matches every one of `tokens` literally, the longest where several fit. It
/// matches nowhere when there are none; empty tokens are left out.
[[nodiscard]] std::string special_tokens_pattern(std::vector<std::string> tokens);

}  // namespace ahead::text
