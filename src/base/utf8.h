// UTF-8 as a sequence of characters and of faults. May use: std.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ahead {

/// U+FFFD in UTF-8: what stands for bytes that are no character.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// What a text begins with.
struct Utf8Step {
  enum class Kind {
    kCharacter,   ///< one well-formed character
    kInvalid,     ///< bytes that can never become one, whatever follows
    kIncomplete,  ///< the text ends inside what may still become one
  };
  Kind kind = Kind::kCharacter;
  std::size_t bytes = 0;  ///< at least 1
};

/// Looks at the beginning of `text`, which must not be empty. A fault is as long as Unicode's
/// "maximal subpart": one replacement character stands for it.
[[nodiscard]] Utf8Step next_utf8(std::string_view text);

/// The code point of one whole, well-formed character.
[[nodiscard]] char32_t code_point(std::string_view character);

/// Whether `text` consists of whole, well-formed characters.
[[nodiscard]] bool is_valid_utf8(std::string_view text);

/// `text` with U+FFFD for every fault, an incomplete end included.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

}  // namespace ahead
