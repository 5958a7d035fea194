// See prompt.h. May use: include/ahead, base, nlohmann-json.
#include "prompt.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "text_file.h"
#include "wording.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;

// Millions of tokens, more than any context; read and tokenised in seconds.
constexpr std::size_t kLargestFile = std::size_t{64} << 20U;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kInvalidArgument, what);
}

std::string read_file(const std::string& option, const std::string& path) {
  const auto refuse_file = [&](const std::string& why,
                               const char* what_to_do = "give a file that can be read") {
    refuse(option + " " + path_in_quotes(path) + ": " + why + "; " + what_to_do);
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    refuse_file("it is a folder");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse_file(std::generic_category().message(errno != 0 ? errno : EIO));
  }
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestFile) {
      refuse_file("it is larger than " + bytes(kLargestFile), "give a part of it");
    }
  }
  if (file.bad()) {
    refuse_file(std::generic_category().message(EIO));
  }
  return text;
}

bool holds_ids(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  return extension == ".ids" || extension == ".json";
}

[[noreturn]] void refuse_ids(const std::string& path, const std::string& what) {
  refuse("--force " + path_in_quotes(path) + ": " + what +
         "; token ids are a JSON array of whole numbers, or whole numbers between blanks");
}

// Takes a flat array of ids, and ends the parse at whatever else comes: a file may be nested too
// deep, or too often, for a tree of it.
class IdReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] std::vector<std::int32_t>& ids() { return ids_; }
  /// Empty while all is well.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

  bool null() override { return item("null"); }
  bool boolean(bool value) override { return item(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return item(in_quotes(std::to_string(value)));  // A negative one.
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_ || value > std::numeric_limits<std::int32_t>::max()) {
      return item(in_quotes(std::to_string(value)));
    }
    ids_.push_back(static_cast<std::int32_t>(value));
    return true;
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return item(in_quotes(text));
  }
  bool string(string_t& value) override { return item("the string " + in_quotes(value)); }
  bool binary(binary_t& /*value*/) override { return no_array(); }
  bool start_object(std::size_t /*size*/) override { return item("an object"); }
  bool key(string_t& /*name*/) override { return no_array(); }
  bool end_object() override { return no_array(); }
  bool start_array(std::size_t /*size*/) override {
    if (in_array_) {
      return item("an array");
    }
    in_array_ = true;
    return true;
  }
  bool end_array() override { return true; }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return no_array();
  }

 private:
  bool item(const std::string& what) {
    if (!in_array_) {
      return no_array();
    }
    wrong_ = "item " + std::to_string(ids_.size()) + " is " + what;
    return false;
  }
  bool no_array() {
    wrong_ = "not a JSON array";
    return false;
  }

  bool in_array_ = false;
  std::vector<std::int32_t> ids_;
  std::string wrong_;
};

std::vector<std::int32_t> ids_of_json(const std::string& path, const std::string& text) {
  IdReader reader;
  if (!nlohmann::json::sax_parse(text, &reader)) {
    refuse_ids(path, reader.wrong());
  }
  return std::move(reader.ids());
}

std::vector<std::int32_t> ids_of_words(const std::string& path, std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::vector<std::int32_t> ids;
  for (std::size_t begin = text.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    std::int32_t id = 0;
    const auto [stopped, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || stopped != word.data() + word.size() || id < 0) {
      refuse_ids(path, "item " + std::to_string(ids.size()) + " is " + in_quotes(word));
    }
    ids.push_back(id);
    begin = text.find_first_not_of(kBlank, end);
  }
  return ids;
}

std::vector<std::int32_t> ids_of(const std::string& path, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (text[first] == '[' || text[first] == '{');
  std::vector<std::int32_t> ids = json ? ids_of_json(path, text) : ids_of_words(path, text);
  if (ids.empty()) {
    refuse_ids(path, "it holds no token id");
  }
  return ids;
}

// A text out of one of the files, with what is to be told of it.
std::string read_text(const char* option, const std::string& path, PromptMaterial& material) {
  PlainText plain =
      plain_text(std::string(option) + " " + path_in_quotes(path), read_file(option, path));
  for (std::string& note : plain.notes) material.notes.push_back(std::move(note));
  return std::move(plain.text);
}

void add(const UnspelledText& more, UnspelledText& sum) {
  sum.count += more.count;
  if (sum.first.empty()) sum.first = more.first;
}

void note_on_unspelled(const std::string& name, const UnspelledText& lost,
                       std::vector<std::string>& notes) {
  if (lost.count == 0) return;
  notes.push_back(name + " has " + std::to_string(lost.count) +
                  (lost.count == 1 ? " character" : " characters, the first") + " " + lost.first +
                  ", that the model's vocabulary cannot spell; what cannot be spelled is left out");
}

// Why a text is no prompt, and what to do.
std::string without_tokens(const UnspelledText& lost) {
  if (lost.count == 0) return " is empty; give some text to go on from";
  return " has nothing that the model's vocabulary can spell (the first character is " +
         lost.first + "); give other text to go on from";
}

// The template that the prompt goes through, in words; empty where it is taken as it is.
std::string template_of(const PromptSource& source, const TextReader& reader) {
  if (source.raw || source.forced_file) return {};
  if (source.chat_template) return *source.chat_template;
  if (reader.chat_origin.empty() && (source.messages_file || source.system)) {
    refuse(std::string(source.messages_file ? "--messages" : "--system") +
           " needs a chat template, and the model has none; give one with --template (a file, or "
           "one of " +
           known_templates() + ")");
  }
  return reader.chat_origin;
}

// A prompt as one message of a user, or the whole conversation.
std::vector<std::int32_t> chat_ids_of(const PromptSource& source, const PromptMaterial& material,
                                      const std::string& prompt, const TextReader& reader) {
  return reader.chat_ids(
      {.messages = material.messages.empty()
                       ? one_question(prompt, source.system.value_or(std::string()))
                       : material.messages,
       .own_template = material.chat_template,
       .parse_special = source.parse_special});
}

}  // namespace

void check_source(const PromptSource& source) {
  if (source.first_of_forced && !source.forced_file) {
    refuse("--prompt-tokens " + std::to_string(*source.first_of_forced) +
           " needs --force FILE, whose first tokens it takes as the prompt");
  }
  if (source.raw && (source.system || source.chat_template || source.parse_special)) {
    refuse("--raw takes the prompt as it is; leave out --system, --template and --parse-special");
  }
  if (source.messages_file && (source.system || source.raw)) {
    refuse("--messages has a whole conversation; leave out --system and --raw");
  }
  if (source.forced_file &&
      (source.system || source.chat_template || source.parse_special || source.messages_file)) {
    refuse(
        "--force goes along tokens as they are; leave out --system, --messages, --template and "
        "--parse-special");
  }
  const int prompts = int{source.messages_file.has_value()} + int{source.text.has_value()} +
                      int{source.file.has_value()} + int{source.first_of_forced.has_value()} +
                      int{source.batch_file.has_value()};
  if (prompts == 0) {
    refuse(
        "there is no prompt; give it after the model, or with --prompt-file FILE, or a "
        "conversation "
        "with --messages FILE, or with --force FILE --prompt-tokens N, or several with --batch "
        "FILE");
  }
  if (prompts > 1) {
    refuse(
        "there is more than one prompt; give one of PROMPT, --prompt-file, --messages, "
        "--prompt-tokens and --batch");
  }
}

PromptMaterial read_material(const PromptSource& source) {
  PromptMaterial material;
  if (source.text) {
    material.prompt = *source.text;
    material.notes = note_on_utf8("the prompt", *source.text);
  }
  if (source.file) {
    material.prompt = read_text("--prompt-file", *source.file, material);
  }
  if (source.batch_file) {
    material.batch = lines_of(read_text("--batch", *source.batch_file, material));
    if (material.batch.empty()) {
      refuse("--batch " + path_in_quotes(*source.batch_file) +
             ": it holds no line; give a prompt a line");
    }
  }
  if (source.messages_file) {
    const std::string name = "--messages " + path_in_quotes(*source.messages_file);
    material.messages = checked_messages(name, read_file("--messages", *source.messages_file));
  }
  if (source.chat_template) {
    material.chat_template = known_template(*source.chat_template);
    if (material.chat_template.empty()) {
      std::error_code ignored;
      if (!fs::exists(*source.chat_template, ignored)) {
        refuse("--template " + in_quotes(*source.chat_template) + " is neither a file nor one of " +
               known_templates());
      }
      material.chat_template = read_file("--template", *source.chat_template);
    }
  }
  if (source.forced_file) {
    std::string text = read_text("--force", *source.forced_file, material);
    if (holds_ids(*source.forced_file)) {
      material.forced_ids = ids_of(*source.forced_file, text);
    } else {
      material.forced_text = std::move(text);
    }
  }
  return material;
}

PromptTokens tokens_of(const PromptSource& source, const PromptMaterial& material,
                       const TextReader& reader) {
  PromptTokens tokens;
  tokens.forced = material.forced_ids;
  tokens.chat = template_of(source, reader);
  for (std::size_t i = 0; i < tokens.forced.size(); ++i) {
    if (tokens.forced[i] >= reader.vocabulary) {
      refuse_ids(*source.forced_file, "item " + std::to_string(i) + " is " +
                                          std::to_string(tokens.forced[i]) +
                                          ", the model's vocabulary has " +
                                          std::to_string(reader.vocabulary) + " entries");
    }
  }
  if (source.forced_file && tokens.forced.empty()) {
    const std::string name = "--force " + path_in_quotes(*source.forced_file);
    const UnspelledText lost = reader.unspelled(material.forced_text);
    tokens.forced = reader.encode(material.forced_text);
    if (tokens.forced.empty()) refuse(name + without_tokens(lost));
    note_on_unspelled(name, lost, tokens.notes);
  }

  if (source.first_of_forced) {
    const auto available = static_cast<std::int64_t>(tokens.forced.size());
    if (*source.first_of_forced >= available) {
      refuse("--prompt-tokens " + std::to_string(*source.first_of_forced) +
             " leaves nothing to force: " + path_in_quotes(*source.forced_file) + " has " +
             std::to_string(available) + " tokens; take fewer");
    }
    const auto middle = tokens.forced.begin() + *source.first_of_forced;
    tokens.prompt.assign(tokens.forced.begin(), middle);
    tokens.forced.erase(tokens.forced.begin(), middle);
  } else if (source.batch_file) {
    UnspelledText lost;
    for (const std::string& line : material.batch) add(reader.unspelled(line), lost);
    note_on_unspelled("--batch " + path_in_quotes(*source.batch_file), lost, tokens.notes);
    for (const std::string& line : material.batch) {
      if (tokens.chat.empty()) break;
      tokens.batch.push_back(line.empty() ? std::vector<std::int32_t>{}
                                          : chat_ids_of(source, material, line, reader));
    }
  } else if (source.messages_file) {
    tokens.prompt = chat_ids_of(source, material, {}, reader);
    // Each of its prompts is checked by itself.
  } else {
    const std::string name =
        source.file ? "--prompt-file " + path_in_quotes(*source.file) : "the prompt";
    const UnspelledText lost = reader.unspelled(material.prompt);
    if (reader.encode(material.prompt).empty()) refuse(name + without_tokens(lost));
    note_on_unspelled(name, lost, tokens.notes);
    if (!tokens.chat.empty()) {
      tokens.prompt = chat_ids_of(source, material, material.prompt, reader);
      return tokens;
    }
    PromptIds made = reader.prompt_ids(material.prompt);
    tokens.prompt = std::move(made.ids);
    if (made.prefix_was_there) {
      tokens.notes.push_back(name +
                             " begins with the tokens that the model expects in front of every "
                             "text; they are not put there a second time");
    }
  }
  return tokens;
}

}  // namespace ahead::cli
