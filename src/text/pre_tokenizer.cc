// The table of pre-tokenizers. May use: std, ahead/error.
#include "text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::text {
namespace {

struct PreTokenizer {
  std::string_view name;
  std::vector<std::string> patterns;
};

// Spaces are spelt out because PCRE2 counts U+180E among \s, which Unicode and the original
// tokenizers do not. To be put inside a class.
constexpr const char* kSpaces = R"(\t-\r\x{85}\p{Z})";

/// Spaces up to the one that belongs to the next word.
std::string space_runs() {
  return std::string("[") + kSpaces + "]+(?![^" + kSpaces + "])|[" + kSpaces + "]+";
}

/// Anything but spaces, letters and numbers.
std::string signs() { return std::string("[^") + kSpaces + R"(\p{L}\p{N}]+)"; }

std::vector<PreTokenizer> make_table() {
  const std::string gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?)" + signs() + "|" + space_runs();
  const std::string qwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?)" +
                            signs() + R"([\r\n]*|[)" + kSpaces + R"(]*[\r\n]+|)" + space_runs();
  // SmolLM makes every digit a piece of its own first.
  return {{"gpt-2", {gpt2}}, {"smollm", {R"(\p{N})", gpt2}}, {"qwen2", {qwen2}}};
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::vector<std::string> split_patterns(std::string_view pre) {
  std::string known;
  for (const PreTokenizer& entry : make_table()) {
    if (entry.name == pre) return entry.patterns;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(ErrorKind::kUnsupportedModel,
              "the pre-tokenizer " + in_quotes(pre) +
                  " (tokenizer.ggml.pre) is not known, and a guess would give wrong tokens; known "
                  "are " +
                  known +
                  ". Use an OpenVINO IR folder of this model, which brings its own tokenizer");
}

bool composes_characters(std::string_view pre) { return pre == "qwen2"; }

std::string special_tokens_pattern(std::vector<std::string> tokens) {
  std::erase(tokens, "");
  if (tokens.empty()) return "(?!)";
  // The first alternative that fits wins, so longer ones come first.
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  std::string pattern;
  for (const std::string& token : tokens) {
    if (!pattern.empty()) pattern += '|';
    for (const char c : token) {
      if (c == '\0') {
        pattern += R"(\x{0})";
        continue;
      }
      if (!is_plain(c)) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

}  // namespace ahead::text
