// JSON in and out, and the guard of control tokens. May use: base, JSON.
#include "api/chat_messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace ahead {
namespace {

// Templates write what they are given in its order.
using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kInvalidArgument, what);
}

Json parse(const std::string& name, std::string_view text) {
  bool deep = false;
  const std::string valid = to_valid_utf8(text);
  try {
    Json json = Json::parse(valid, [&](int depth, Json::parse_event_t, Json&) {
      deep = deep || depth > kMaxDepth;
      return depth <= kMaxDepth;
    });
    if (deep) refuse(name + " is nested more than 64 deep; give plainer JSON");
    return json;
  } catch (const Json::parse_error& error) {
    refuse(name + " is no JSON at byte " + std::to_string(error.byte) + "; correct it");
  }
}

void check_content(const std::string& where, const Json& content) {
  if (content.is_string() || content.is_null()) return;
  if (!content.is_array()) {
    refuse(where + " has a content that is neither a text nor a list of parts; give a text");
  }
  for (const Json& part : content) {
    if (!part.is_object() || !part.contains("type") || !part["type"].is_string()) {
      refuse(where + " has a part without a type; give {\"type\": \"text\", \"text\": ...}");
    }
    const auto type = part["type"].get<std::string>();
    if (type != "text" || !part.contains("text") || !part["text"].is_string()) {
      refuse(where + " has a part of type " + in_quotes(type) +
             ", and models here read text; give {\"type\": \"text\", \"text\": ...}");
    }
  }
}

void check_messages(const std::string& name, const Json& messages) {
  if (!messages.is_array() || messages.empty()) {
    refuse(name + " is no list of messages; give [{\"role\": \"user\", \"content\": ...}, ...]");
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = name + ": message " + std::to_string(i + 1);
    const Json& message = messages[i];
    if (!message.is_object()) refuse(where + " is no object; give its role and content");
    if (!message.contains("role") || !message["role"].is_string()) {
      refuse(where + " has no role; give \"user\", \"assistant\", \"system\" or \"tool\"");
    }
    const bool calls = message.contains("tool_calls");
    if (!message.contains("content") && !calls) refuse(where + " has no content; give a text");
    if (message.contains("content")) check_content(where, message["content"]);
  }
}

/// The names under which templates look for what an assistant thought.
void mirror_thoughts(Json& message) {
  constexpr std::array kNames = {"reasoning_content", "thinking", "reasoning"};
  for (const char* from : kNames) {
    if (!message.contains(from) || !message[from].is_string()) continue;
    const Json thought = message[from];
    for (const char* to : kNames) {
      if (!message.contains(to)) message[to] = thought;
    }
    return;
  }
}

/// `text` with a guard inside of each control token that is spelled in it.
std::string guarded(const std::string& text, const std::vector<std::string>& controls) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with(kGuard)) {
      out += "\xEF\xBF\xBD";  // U+FFFD: a guard is nobody's text
      at += std::string_view(kGuard).size();
      continue;
    }
    out += text[at++];
    if (std::any_of(controls.begin(), controls.end(), [&](const std::string& control) {
          return control.size() > 1 && rest.starts_with(control);
        })) {
      // Behind the whole first character.
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
        out += text[at++];
      }
      out += kGuard;
    }
  }
  return out;
}

void guard(Json& value, const std::vector<std::string>& controls) {
  if (value.is_string()) {
    value = guarded(value.get<std::string>(), controls);
  } else if (value.is_structured()) {
    for (Json& inside : value) guard(inside, controls);
  }
}

}  // namespace

std::string one_question(std::string_view question, std::string_view system) {
  Json messages = Json::array();
  if (!system.empty()) {
    messages.push_back({{"role", "system"}, {"content", to_valid_utf8(system)}});
  }
  messages.push_back({{"role", "user"}, {"content", to_valid_utf8(question)}});
  return messages.dump();
}

std::string checked_messages(const std::string& name, std::string_view json) {
  Json messages = parse(name, json);
  if (messages.is_object() && messages.contains("messages")) {
    messages = Json(messages["messages"]);
  }
  check_messages(name, messages);
  return messages.dump();
}

std::string chat_values(const ChatPrompt& prompt, const text::ChatSource& source) {
  Json messages = parse("the conversation", prompt.messages);
  check_messages("the conversation", messages);
  for (Json& message : messages) {
    mirror_thoughts(message);
    if (!prompt.parse_special) guard(message, source.controls);
  }
  Json values = {{"messages", std::move(messages)}, {"tools", nullptr}, {"documents", nullptr}};
  if (!prompt.tools.empty()) {
    values["tools"] = parse("the tools", prompt.tools);
    if (!values["tools"].is_array()) refuse("the tools are no list; give a JSON array");
  }
  values["add_generation_prompt"] = prompt.open_answer;
  for (const auto& [name, mark] : source.marks) values[name] = to_valid_utf8(mark);
  if (!prompt.values.empty()) {
    const Json more = parse("the template's values", prompt.values);
    if (!more.is_object()) refuse("the template's values are no JSON object; give {...}");
    values.update(more);
  }
  return values.dump();
}

std::vector<std::string> without_guards(const std::string& rendered) {
  std::vector<std::string> pieces;
  const std::string_view guard = kGuard;
  std::size_t begin = 0;
  for (std::size_t at = rendered.find(guard); at != std::string::npos;
       at = rendered.find(guard, begin)) {
    pieces.push_back(rendered.substr(begin, at - begin));
    begin = at + guard.size();
  }
  pieces.push_back(rendered.substr(begin));
  return pieces;
}

}  // namespace ahead
