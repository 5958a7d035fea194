// Messages as a template gets them. May use: base, include/ahead, JSON in the .cc.
#pragma once

#include <string>
#include <vector>

#include "ahead/chat.h"
#include "text/chat_source.h"

namespace ahead {

/// Stands inside what is spelled like a control token in a message, so that it stays text: no
/// character of any text (Unicode's noncharacters), and taken out of the messages before.
inline constexpr const char* kGuard = "\xEF\xB7\x90";  // U+FDD0

/// The values of one rendering as JSON: messages, tools, add_generation_prompt, the marks of
/// `source` and the prompt's own values. Throws Error(kInvalidArgument) for what is no JSON.
[[nodiscard]] std::string chat_values(const ChatPrompt& prompt, const text::ChatSource& source);

/// `rendered` cut at the guards: control tokens are whole in no piece but where the template put
/// them.
[[nodiscard]] std::vector<std::string> without_guards(const std::string& rendered);

}  // namespace ahead
