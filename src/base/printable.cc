// See printable.h. May use: std.
#include "base/printable.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace ahead {
namespace {

constexpr std::size_t kLongest = 100;

/// Whether a terminal acts on it: controls of ASCII and of Latin-1, changes of direction, marks of
/// byte order and of annotations, tags, and line ends that are no ASCII.
bool is_obeyed(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr Range kObeyed[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C},
                               {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069},
                               {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  return std::any_of(std::begin(kObeyed), std::end(kObeyed),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Every character as it is shown; blanks as they are.
std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    const std::string_view piece = text.substr(0, step.bytes);
    text.remove_prefix(step.bytes);
    if (is_blank(piece.front())) {
      out += ' ';
    } else if (step.kind != Utf8Step::Kind::kCharacter || is_obeyed(code_point(piece))) {
      out += '?';
    } else {
      out += piece;
    }
  }
  return out;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : shown(text)) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Blanks count in a value: they stay.
std::string in_quotes(std::string_view value) {
  std::string text = shown(value.substr(0, kLongest + 4));
  if (text.size() <= kLongest && value.size() <= kLongest) return "'" + text + "'";
  std::size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && continues(text[end])) --end;
  return "'" + text.substr(0, end) + "...'";
}

std::string path_in_quotes(std::string_view path) {
  const std::string text = shown(path);
  if (text.size() <= kLongest) return "'" + text + "'";
  std::size_t begin = text.size() - kLongest;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return "'..." + text.substr(begin) + "'";
}

}  // namespace ahead
