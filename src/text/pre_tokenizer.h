// How a text is cut into pieces before byte pair encoding, as regular expressions in the syntax of
// PCRE2, which the tokenizers extension uses. May use: std, ahead/error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahead::text {

/// The expressions of the pre-tokenizer a GGUF file names in tokenizer.ggml.pre. They are applied
/// one after the other; every match and every stretch between two becomes a piece. Throws
/// Error(kUnsupportedModel), listing what is known, for another name.
[[nodiscard]] std::vector<std::string> split_patterns(std::string_view pre);

/// Whether that pre-tokenizer's texts are brought into Unicode's composed form (NFC) first.
[[nodiscard]] bool composes_characters(std::string_view pre);

/// An expression that matches every one of `tokens` literally, the longest where several fit. It
/// matches nowhere when there are none; empty tokens are left out.
[[nodiscard]] std::string special_tokens_pattern(std::vector<std::string> tokens);

}  // namespace ahead::text
