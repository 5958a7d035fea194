// Scanning UTF-8 byte by byte after table 3-7 of the Unicode standard. May use: std.
#include "base/utf8.h"

#include <array>

#include "base/check.h"

namespace ahead {
namespace {

/// What a lead byte promises: how many bytes follow, and the range the first of them must be in.
struct Promise {
  std::size_t follow;
  unsigned char low;
  unsigned char high;
};

constexpr std::size_t kNotALead = 4;

Promise promise_of(unsigned char lead) {
  if (lead < 0x80) return {0, 0, 0};
  if (lead < 0xC2) return {kNotALead, 0, 0};
  if (lead < 0xE0) return {1, 0x80, 0xBF};
  if (lead == 0xE0) return {2, 0xA0, 0xBF};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead < 0xF0) return {2, 0x80, 0xBF};
  if (lead == 0xF0) return {3, 0x90, 0xBF};
  if (lead < 0xF4) return {3, 0x80, 0xBF};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  return {kNotALead, 0, 0};
}

}  // namespace

Utf8Step next_utf8(std::string_view text) {
  AHEAD_CHECK(!text.empty(), "there is nothing to scan");
  Promise promise = promise_of(static_cast<unsigned char>(text.front()));
  if (promise.follow == kNotALead) return {Utf8Step::Kind::kInvalid, 1};
  for (std::size_t i = 1; i <= promise.follow; ++i) {
    if (i == text.size()) return {Utf8Step::Kind::kIncomplete, i};
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < promise.low || byte > promise.high) return {Utf8Step::Kind::kInvalid, i};
    promise.low = 0x80;
    promise.high = 0xBF;
  }
  return {Utf8Step::Kind::kCharacter, promise.follow + 1};
}

char32_t code_point(std::string_view character) {
  AHEAD_CHECK(!character.empty() && character.size() <= 4, "a character has one to four bytes");
  constexpr std::array<unsigned char, 4> kLeadBits = {0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = static_cast<unsigned char>(character[0]) & kLeadBits[character.size() - 1];
  for (const char c : character.substr(1)) {
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return code;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    if (step.kind != Utf8Step::Kind::kCharacter) return false;
    text.remove_prefix(step.bytes);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    valid += step.kind == Utf8Step::Kind::kCharacter ? text.substr(0, step.bytes)
                                                     : kReplacementCharacter;
    text.remove_prefix(step.bytes);
  }
  return valid;
}

}  // namespace ahead
