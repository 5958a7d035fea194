// The model's side of chats: its template, what it takes, and the tokens of what it renders.
#include "ahead/chat.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "ahead/llm_pipeline.h"
#include "api/chat_messages.h"
#include "api/model_impl.h"
#include "base/clock.h"
#include "text/chat_renderer.h"

namespace ahead {
namespace {

/// Whether rendering `prompt` works, and what it gives.
std::string attempt(const Model& model, const ChatPrompt& prompt) {
  try {
    return model.render(prompt);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::string Model::render(const ChatPrompt& prompt) const {
  const std::string& source =
      prompt.own_template.empty()
          ? text::chosen_template(impl_->chat, prompt.template_name, !prompt.tools.empty())
          : prompt.own_template;
  return text::render_chat(
      source, {.values = chat_values(prompt, impl_->chat), .now = seconds_since_1970()});
}

std::vector<std::int32_t> Model::chat_ids(const ChatPrompt& prompt) const {
  std::vector<std::int32_t> ids;
  for (const std::string& piece : without_guards(render(prompt))) {
    const std::vector<std::int32_t> some = encode(piece);
    ids.insert(ids.end(), some.begin(), some.end());
  }
  return ids;
}

std::vector<std::string> Model::end_tokens() const {
  std::vector<std::string> names;
  for (const std::int32_t id : impl_->tokenizer->end_tokens()) {
    // Which of the control tokens it is shows where that one is written out.
    const auto named = std::find_if(
        impl_->chat.controls.begin(), impl_->chat.controls.end(),
        [&](const std::string& text) { return encode(text) == std::vector<std::int32_t>{id}; });
    names.push_back(named == impl_->chat.controls.end() ? std::to_string(id) : *named);
  }
  return names;
}

const std::string& Model::chat_origin() const { return impl_->chat.origin; }

ChatFacts Model::chat_facts() const {
  ChatFacts facts;
  facts.origin = impl_->chat.origin;
  for (const auto& [name, source] : impl_->chat.templates) facts.names.push_back(name);
  if (facts.names.empty()) return facts;
  // What it takes shows in what it renders.
  const std::string mark = "mark8131";
  const std::string question = one_question("hello");
  facts.system =
      attempt(*this, {.messages = one_question("hello", mark)}).find(mark) != std::string::npos;
  const std::string tool = R"([{"type": "function", "function": {"name": "mark8131",
      "description": "mark8131", "parameters": {"type": "object", "properties": {}}}}])";
  facts.tools =
      attempt(*this, {.messages = question, .tools = tool}).find(mark) != std::string::npos;
  const auto thinks = [&](const char* on, const char* off) {
    return attempt(*this, {.messages = question, .values = on}) !=
           attempt(*this, {.messages = question, .values = off});
  };
  facts.thinking = thinks(R"({"enable_thinking": true})", R"({"enable_thinking": false})") ||
                   thinks(R"({"thinking": true})", R"({"thinking": false})") ||
                   thinks(R"({"reasoning_effort": "high"})", R"({"reasoning_effort": "low"})");
  return facts;
}

}  // namespace ahead
