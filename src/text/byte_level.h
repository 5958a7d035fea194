// The byte-level alphabet of GPT-2-like vocabularies, in which every byte has a printable
// character. May use: std.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ahead::text {

/// The bytes a vocabulary entry spells, or nothing when it has a character outside the alphabet.
[[nodiscard]] std::optional<std::string> bytes_of_token(std::string_view token);

}  // namespace ahead::text
