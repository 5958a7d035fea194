// See python_json.h. May use: std.
#include "base/python_json.h"

#include <algorithm>
#include <array>

namespace ahead {
namespace {

constexpr std::array<std::string_view, 3> kNoNumbers = {"NaN", "Infinity", "-Infinity"};

/// Behind the string that begins at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

}  // namespace

std::string plain_json(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  std::string out(text);
  std::size_t at = 0;
  if (text.starts_with(kMark)) {
    at = kMark.size();
    std::fill_n(out.begin(), at, ' ');
  }
  while (at < text.size()) {
    if (text[at] == '"') {
      at = behind_string(text, at);
      continue;
    }
    std::size_t length = 1;
    for (const std::string_view word : kNoNumbers) {
      if (!text.substr(at).starts_with(word)) continue;
      length = word.size();
      out.replace(at, length, length, ' ');
      out.replace(at, 2, "\"\"");
      break;
    }
    at += length;
  }
  return out;
}

std::string place_in(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n');
  const std::size_t column = before.size() - (begin == std::string_view::npos ? 0 : begin + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace ahead
