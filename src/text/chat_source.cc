// Files of Hugging Face's tokenizers, as far as chats need them. May use: std, JSON, base.
#include "text/chat_source.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/python_json.h"

namespace ahead::text {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Far above any real file of this kind; what is nested deeper is passed over.
constexpr std::uintmax_t kMaxBytes = 32 << 20;
constexpr int kMaxDepth = 64;

[[noreturn]] void invalid(const fs::path& path, const std::string& what) {
  throw Error(ErrorKind::kInvalidModel, path_in_quotes(path.string()) + " " + what +
                                            "; correct it, or export the model again");
}

/// The file's text; nothing where there is no such file.
std::string text_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) invalid(path, "cannot be read: " + error.message());
  if (bytes > kMaxBytes)
    invalid(path, "has " + std::to_string(bytes) + " bytes, which is too many");
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) invalid(path, "cannot be read");
  return text;
}

/// A token is written as a text, or as an object with its "content".
std::string token_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("content") && value["content"].is_string()) {
    return value["content"].get<std::string>();
  }
  return {};
}

void read_templates(const fs::path& path, const Json& config, ChatSource& source) {
  const auto found = config.find("chat_template");
  if (found == config.end() || found->is_null()) return;
  if (found->is_string()) {
    source.templates.try_emplace("default", found->get<std::string>());
    return;
  }
  if (!found->is_array()) invalid(path, "has a chat_template that is neither a text nor a list");
  for (const Json& one : *found) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string() ||
        !one.contains("template") || !one["template"].is_string()) {
      invalid(path, "has a chat_template whose entries are not all a name and a template");
    }
    source.templates.try_emplace(one["name"].get<std::string>(),
                                 one["template"].get<std::string>());
  }
}

void read_config(const fs::path& path, ChatSource& source) {
  const std::string text = text_of(path);
  if (text.empty()) return;
  Json config;
  try {
    config = Json::parse(plain_json(text),
                         [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; });
  } catch (const Json::parse_error& cause) {
    invalid(path, "is no JSON at " + place_in(text, cause.byte == 0 ? 0 : cause.byte - 1));
  }
  if (!config.is_object()) invalid(path, "is not a JSON object");
  for (const char* mark : {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token"}) {
    const auto found = config.find(mark);
    if (found == config.end()) continue;
    if (std::string token = token_text(*found); !token.empty()) source.marks[mark] = token;
  }
  if (const auto added = config.find("added_tokens_decoder");
      added != config.end() && added->is_object()) {
    for (const Json& token : *added) {
      if (!token.is_object() || !token.value("special", Json(false)).is_boolean()) continue;
      std::string written = token_text(token);
      if (token.value("special", false) && !written.empty()) source.controls.push_back(written);
    }
  }
  const bool had = !source.templates.empty();
  read_templates(path, config, source);
  if (!had && !source.templates.empty()) source.origin = "tokenizer_config.json";
}

}  // namespace

ChatSource read_chat_source(const fs::path& folder) {
  ChatSource source;
  if (std::string text = text_of(folder / "chat_template.jinja"); !text.empty()) {
    source.templates["default"] = std::move(text);
    source.origin = "chat_template.jinja";
  }
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder / "additional_chat_templates", ignored)) {
    if (file.path().extension() != ".jinja") continue;
    source.templates[file.path().stem().string()] = text_of(file.path());
  }
  read_config(folder / "tokenizer_config.json", source);
  return source;
}

const std::string& chosen_template(const ChatSource& source, const std::string& name, bool tools) {
  const auto& all = source.templates;
  if (name.empty()) {
    if (const auto found = all.find("tool_use"); tools && found != all.end()) return found->second;
    if (const auto found = all.find("default"); found != all.end()) return found->second;
  }
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  std::string known;
  for (const auto& [key, text] : all) known += (known.empty() ? "" : ", ") + in_quotes(key);
  throw Error(ErrorKind::kInvalidArgument,
              "the model has no chat template" +
                  (name.empty() ? std::string() : " called " + in_quotes(name)) +
                  (known.empty() ? "" : " (it has " + known + ")") +
                  "; give one with --template, or the text as the model shall read it with --raw");
}

}  // namespace ahead::text
