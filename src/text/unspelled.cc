// Tries every character of a text once, all of them together where they can be. May use: base.
#include "text/unspelled.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/utf8.h"

namespace ahead::text {
namespace {

/// A printable character of ASCII is in every vocabulary, and so are blanks and line ends.
bool is_common(std::string_view character) {
  if (character.size() > 1) return false;
  const char c = character.front();
  return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
}

std::string again(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.decode(tokenizer.encode(text));
}

/// Whether something whole comes back: a vocabulary may write a character in another form.
bool is_spelled(const Tokenizer& tokenizer, std::string_view character) {
  const std::string back = again(tokenizer, character);
  if (back == character) return true;
  return !back.empty() && is_valid_utf8(back) &&
         back.find(kReplacementCharacter) == std::string::npos;
}

void find_unspelled(const Tokenizer& tokenizer, std::span<const std::string_view> characters,
                    std::set<std::string_view>& found) {
  if (characters.empty()) return;
  if (characters.size() == 1) {
    if (!is_spelled(tokenizer, characters.front())) found.insert(characters.front());
    return;
  }
  std::string joined;
  for (const std::string_view character : characters) joined += character;
  if (again(tokenizer, joined) == joined) return;
  const std::size_t half = characters.size() / 2;
  find_unspelled(tokenizer, characters.first(half), found);
  find_unspelled(tokenizer, characters.subspan(half), found);
}

std::string name_of(std::string_view character) {
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "U+%04X", static_cast<unsigned>(code_point(character)));
  return name.data();
}

}  // namespace

Unspelled unspelled(const Tokenizer& tokenizer, std::string_view text) {
  Unspelled out;
  std::map<std::string_view, std::int64_t> counts;
  std::vector<std::string_view> distinct;  // in the order of the text
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = next_utf8(text.substr(at));
    const std::string_view character = text.substr(at, step.bytes);
    if (step.kind != Utf8Step::Kind::kCharacter) {
      if (out.broken_bytes == 0) out.broken_at = static_cast<std::int64_t>(at);
      out.broken_bytes += static_cast<std::int64_t>(step.bytes);
    } else if (!is_common(character) && ++counts[character] == 1) {
      distinct.push_back(character);
    }
    at += step.bytes;
  }
  std::set<std::string_view> found;
  find_unspelled(tokenizer, distinct, found);
  for (const std::string_view character : distinct) {
    if (!found.contains(character)) continue;
    if (out.first.empty()) out.first = name_of(character);
    out.characters += counts[character];
  }
  return out;
}

}  // namespace ahead::text
