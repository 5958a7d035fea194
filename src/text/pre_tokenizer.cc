// The table of pre-tokenizers. May use: std, ahead/error.
#include "text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::text {
namespace {

// Spaces are spelt out because PCRE2 counts U+180E among \s, which Unicode and the original
// tokenizers do not. To be put inside a class.
constexpr const char* kSpaces = R"(\t-\r\x{85}\p{Z})";

/// Spaces up to the one that belongs to the next word.
std::string space_runs() {
  return std::string("[") + kSpaces + "]+(?![^" + kSpaces + "])|[" + kSpaces + "]+";
}

/// Anything but spaces, letters and numbers.
std::string signs() { return std::string("[^") + kSpaces + R"(\p{L}\p{N}]+)"; }

struct Group {
  PreTokenizer made;
  std::vector<std::string_view> names;
};

/// Letters behind one sign, numbers of at most `digits` digits (as a quantifier), signs, spaces.
std::string words_and_numbers(const std::string& words, const std::string& digits,
                              const std::string& behind_signs) {
  return words + R"(|\p{N})" + digits + "| ?" + signs() + behind_signs + "|[" + kSpaces +
         R"(]*[\r\n]+|)" + space_runs();
}

std::vector<Group> make_table() {
  const std::string short_forms = R"((?i:'s|'t|'re|'ve|'m|'ll|'d))";
  const std::string gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?)" + signs() + "|" + space_runs();
  const std::string words = short_forms + R"(|[^\r\n\p{L}\p{N}]?\p{L}+)";
  // Words that change from capitals to small letters at most once.
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])";
  const std::string lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
  const auto cased = [&](const std::string& end) {
    const std::string sign = R"([^\r\n\p{L}\p{N}]?)";
    return sign + upper + "*" + lower + "+" + end + "|" + sign + upper + "+" + lower + "*" + end;
  };
  const std::string ends = R"([\r\n]*)";
  const std::string ends_or_slashes = R"([\r\n/]*)";
  const std::string llama3 = words_and_numbers(words, "{1,3}", ends);
  const std::vector<std::string> llama3_probe = {"ab", "'s",    " ", "123",
                                                 "4",  " !?\n", " ", " c\u6F22x"};
  const std::string signs_and_letters =
      R"([!"#$%&'()*+,\-.\/:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)";
  const std::string deepseek =
      signs_and_letters + R"(| ?[\p{P}\p{S}]+[\r\n]*|[)" + kSpaces + R"(]*[\r\n]+|)" + space_runs();
  std::vector<Group> table;
  table.push_back(
      {{.group = "gpt-2",
        .patterns = {gpt2},
        .probe_pieces = {"ab", "'s", " 1234", " !?", "\n ", " c\u6F22x"}},
       {"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "exaone4", "mellum", "gigachat"}});
  // Every digit is a piece of its own first.
  table.push_back(
      {{.group = "smollm",
        .patterns = {R"(\p{N})", gpt2},
        .probe_pieces = {"ab", "'s", " ", "1", "2", "3", "4", " !?", "\n ", " c\u6F22x"}},
       {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"}});
  table.push_back(
      {{.group = "qwen2",
        .patterns = {words_and_numbers(words, "", ends)},
        .composes = true,
        .probe_pieces = {"ab", "'s", " ", "1", "2", "3", "4", " !?\n", " ", " c\u6F22x"}},
       {"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan"}});
  table.push_back(
      {{.group = "llama3",
        .patterns = {llama3},
        .whole_pieces = true,
        .own_merging = true,
        .first_token = true,
        .probe_pieces = llama3_probe},
       {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}});
  table.push_back(
      {{.group = "dbrx", .patterns = {llama3}, .own_merging = true, .probe_pieces = llama3_probe},
       {"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}});
  // tiktoken, which these were made with, looks a piece up whole too.
  table.push_back(
      {{.group = "gpt-4o",
        .patterns = {words_and_numbers(cased(short_forms + "?"), "{1,3}", ends_or_slashes)},
        .whole_pieces = true,
        .own_merging = true,
        .probe_pieces = {"ab's", " ", "123", "4", " !?\n", " ", " c\u6F22x"}},
       {"gpt-4o", "llama4", "kanana2"}});
  table.push_back(
      {{.group = "tekken",
        .patterns = {words_and_numbers(cased(""), "", ends_or_slashes)},
        .whole_pieces = true,
        .own_merging = true,
        .first_token = true,
        .probe_pieces = {"ab", "'s", " ", "1", "2", "3", "4", " !?\n", " ", " c\u6F22x"}},
       {"tekken"}});
  table.push_back(
      {{.group = "deepseek-v3",
        .patterns = {R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
                     deepseek},
        .probe_pieces = {"ab", "'s", " ", "123", "4", " !?\n", " ", " c", "\u6F22", "x"}},
       {"deepseek-v3", "hunyuan-dense"}});
  return table;
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

PreTokenizer pre_tokenizer(std::string_view pre) {
  std::string known;
  std::vector<Group> table = make_table();
  for (Group& group : table) {
    for (const std::string_view name : group.names) {
      if (name == pre) return std::move(group.made);
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
  }
  throw Error(ErrorKind::kUnsupportedModel,
              "the pre-tokenizer " + in_quotes(pre) +
                  " (tokenizer.ggml.pre) is not known, and a guess would give wrong tokens; known "
                  "are " +
                  known +
                  ". Use an OpenVINO IR folder of this model, which brings its own tokenizer");
}

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
