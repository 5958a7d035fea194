// Printable bytes stand for themselves, the others for the characters from U+0100 on. May use: std,
// base.
#include "text/byte_level.h"

#include <array>
#include <cstddef>

#include "base/utf8.h"

namespace ahead::text {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::size_t kOthers = 68;

/// The bytes behind U+0100, U+0101, ...
constexpr std::array<unsigned char, kOthers> other_bytes() {
  std::array<unsigned char, kOthers> others{};
  std::size_t count = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!stands_for_itself(byte)) others[count++] = static_cast<unsigned char>(byte);
  }
  return others;
}
constexpr std::array<unsigned char, kOthers> kOtherBytes = other_bytes();

}  // namespace

std::optional<std::string> bytes_of_token(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const Utf8Step step = next_utf8(token);
    // The alphabet ends at U+0143: one or two bytes of UTF-8.
    if (step.kind != Utf8Step::Kind::kCharacter || step.bytes > 2) return std::nullopt;
    unsigned code = static_cast<unsigned char>(token[0]);
    if (step.bytes == 2)
      code = (code & 0x1FU) << 6 | (static_cast<unsigned char>(token[1]) & 0x3FU);
    if (code < 256 && stands_for_itself(code)) {
      bytes += static_cast<char>(code);
    } else if (code >= 256 && code - 256 < kOthers) {
      bytes += static_cast<char>(kOtherBytes[code - 256]);
    } else {
      return std::nullopt;
    }
    token.remove_prefix(step.bytes);
  }
  return bytes;
}

}  // namespace ahead::text
