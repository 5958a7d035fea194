// Conversations: messages become the text that a model was trained to read of them, by its own chat
// template (Jinja, as Hugging Face renders it).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahead {

/// A conversation to be rendered.
struct ChatPrompt {
  /// A JSON array of objects as chat APIs have them: "role", "content" and what else the template
  /// knows ("tool_calls", "reasoning_content", ...).
  std::string messages;
  std::string tools;          ///< a JSON array of functions; empty: there are none
  std::string values;         ///< a JSON object of further values ("enable_thinking"); or empty
  std::string own_template;   ///< rendered in place of the model's; empty: the model's
  std::string template_name;  ///< one of the model's by name; empty: the usual one
  bool open_answer = true;    ///< the text ends where the assistant's answer begins
  /// Control tokens that are spelled out in a message are these tokens; otherwise they are text.
  bool parse_special = false;
};

/// What a model's own template takes.
struct ChatFacts {
  std::string origin;              ///< key or file it comes from; empty: there is none
  std::vector<std::string> names;  ///< "default", "tool_use", ...
  bool system = false;             ///< a system message is rendered
  bool tools = false;              ///< functions are
  bool thinking = false;           ///< "enable_thinking", or its like, changes something
};

/// `messages` of one question, behind a system message unless that is empty.
[[nodiscard]] std::string one_question(std::string_view question, std::string_view system = {});

/// Checks `messages` as ChatPrompt has them; they may stand under "messages" of an object, as in
/// requests to servers. Returns the array. Throws Error(kInvalidArgument) that begins with `name`
/// and says which message is wrong.
[[nodiscard]] std::string checked_messages(const std::string& name, std::string_view json);

/// A template of a few well-known ones ("chatml", "gemma", "mistral", "phi3", "zephyr"); empty for
/// another name.
[[nodiscard]] std::string_view known_template(std::string_view name);
/// Their names, between commas.
[[nodiscard]] std::string known_templates();

}  // namespace ahead
