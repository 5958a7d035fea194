// See text_file.h. May use: include/ahead, base.
#include "text_file.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "ahead/error.h"
#include "base/utf8.h"

namespace ahead::cli {
namespace {

using namespace std::string_view_literals;

struct Encoding {
  std::string_view mark;
  const char* name;
};

// UTF-32's little-endian mark begins like UTF-16's: it comes first.
constexpr std::array<Encoding, 4> kWide = {{{"\xFF\xFE\0\0"sv, "UTF-32LE"},
                                            {"\0\0\xFE\xFF"sv, "UTF-32BE"},
                                            {"\xFF\xFE"sv, "UTF-16LE"},
                                            {"\xFE\xFF"sv, "UTF-16BE"}}};
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse_wide(std::string_view source, const std::string& name) {
  throw Error(ErrorKind::kInvalidArgument, std::string(source) + " is " + name +
                                               " text, not UTF-8; convert it, for example with "
                                               "iconv -f " +
                                               name + " -t UTF-8");
}

/// UTF-16 without a mark: of Latin text every other byte is zero, of any other text there are a few
/// blanks and line ends; UTF-8 text has no zero at all.
const char* unmarked_wide(std::string_view bytes) {
  constexpr std::size_t kLook = 4096;
  std::array<std::size_t, 2> zeroes{};
  const std::size_t looked = std::min(bytes.size(), kLook);
  for (std::size_t i = 0; i < looked; ++i) zeroes[i % 2] += bytes[i] == '\0' ? 1 : 0;
  const std::size_t enough = looked / 5;
  if (looked < 4 || bytes.size() % 2 != 0) return nullptr;
  if (zeroes[1] > enough && zeroes[0] == 0) return "UTF-16LE";
  if (zeroes[0] > enough && zeroes[1] == 0) return "UTF-16BE";
  return nullptr;
}

/// Line ends as LF.
std::string with_plain_ends(std::string text) {
  if (text.find('\r') == std::string::npos) return text;
  if (text.find('\n') == std::string::npos) {
    std::replace(text.begin(), text.end(), '\r', '\n');
    return text;
  }
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

}  // namespace

PlainText plain_text(std::string_view source, std::string bytes) {
  for (const Encoding& wide : kWide) {
    if (bytes.starts_with(wide.mark)) refuse_wide(source, wide.name);
  }
  if (const char* const name = unmarked_wide(bytes)) refuse_wide(source, name);
  if (bytes.starts_with(kUtf8Mark)) bytes.erase(0, kUtf8Mark.size());
  PlainText plain{.text = with_plain_ends(std::move(bytes))};
  plain.notes = note_on_utf8(source, plain.text);
  if (!plain.text.empty() && plain.text.back() == '\n') plain.text.pop_back();
  return plain;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto is_blank = [](const std::string& line) {
    return line.find_first_not_of(" \t\r") == std::string::npos;
  };
  while (!lines.empty() && is_blank(lines.back())) lines.pop_back();
  return lines;
}

std::vector<std::string> note_on_utf8(std::string_view source, std::string_view text) {
  std::size_t faults = 0;
  std::size_t first = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = next_utf8(text.substr(at));
    if (step.kind != Utf8Step::Kind::kCharacter && ++faults == 1) first = at;
    at += step.bytes;
  }
  if (faults == 0) return {};
  return {std::string(source) + " is not all UTF-8: " + std::to_string(faults) +
          (faults == 1 ? " fault, at byte " : " faults, the first at byte ") +
          std::to_string(first) +
          ", read as U+FFFD; convert it if it is of another encoding, for example with iconv -f "
          "ISO-8859-1 -t UTF-8"};
}

}  // namespace ahead::cli
