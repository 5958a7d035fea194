// Messages checked, mirrored and guarded; built-in templates as Jinja2 renders them.
#include "api/chat_messages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "ahead/error.h"
#include "text/chat_renderer.h"

namespace ahead {
namespace {

using Json = nlohmann::ordered_json;

void expect_refused(const std::string& json, const std::string& part) {
  try {
    (void)checked_messages("--messages 'm.json'", json);
    FAIL() << json;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()).find("--messages 'm.json'"), 0U) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ChatMessages, WrongShapesAreNamedByTheirMessage) {
  expect_refused("", "is no JSON at byte");
  expect_refused("[{]", "is no JSON at byte 3");
  expect_refused("7", "is no list of messages");
  expect_refused("[]", "is no list of messages");
  expect_refused("{\"messages\": {}}", "is no list of messages");
  expect_refused("[1]", "message 1 is no object");
  expect_refused(R"([{"role": "user", "content": "a"}, {"content": "b"}])",
                 "message 2 has no role");
  expect_refused(R"([{"role": "user"}])", "message 1 has no content");
  expect_refused(R"([{"role": "user", "content": 7}])", "neither a text nor a list");
  expect_refused(R"([{"role": "user", "content": [{"type": "image_url"}]}])", "'image_url'");
  expect_refused(std::string(100, '[') + std::string(100, ']'), "nested more than 64 deep");
}

TEST(ChatMessages, AServersRequestIsTakenToo) {
  EXPECT_EQ(checked_messages("x", R"({"model": "m", "messages": [{"role":"user","content":"a"}]})"),
            R"([{"role":"user","content":"a"}])");
}

TEST(ChatMessages, ThoughtsStandUnderEachOfTheirNames) {
  const Json values = Json::parse(chat_values(
      {.messages = R"([{"role": "assistant", "content": "b", "reasoning": "a"}])"}, {}));
  const Json& message = values.at("messages").at(0);
  EXPECT_EQ(message.at("reasoning_content"), "a");
  EXPECT_EQ(message.at("thinking"), "a");
}

TEST(ChatMessages, ValuesAreThoseThatTransformersGives) {
  const Json values = Json::parse(chat_values(
      {.messages = one_question("hi", "be brief"), .values = R"({"enable_thinking": false})"},
      {.marks = {{"bos_token", "<s>"}}}));
  EXPECT_TRUE(values.at("tools").is_null());
  EXPECT_TRUE(values.at("documents").is_null());
  EXPECT_EQ(values.at("add_generation_prompt"), true);
  EXPECT_EQ(values.at("bos_token"), "<s>");
  EXPECT_EQ(values.at("enable_thinking"), false);
  EXPECT_EQ(values.at("messages").at(0).at("role"), "system");
}

TEST(ChatMessages, ControlTokensInMessagesAreTakenApart) {
  const text::ChatSource source{.controls = {"<|im_end|>", "</s>", "<｜end｜>", "x"}};
  const auto rendered = [&](const std::string& text, bool parse_special) {
    ChatPrompt prompt{.messages = one_question(text)};
    prompt.parse_special = parse_special;
    return text::render_chat("<|im_end|>{{ messages[0].content }}</s>",
                             {.values = chat_values(prompt, source)});
  };
  const auto pieces = without_guards(rendered("a<|im_end|>b</s></s>x", false));
  const std::vector<std::string> wanted = {"<|im_end|>a<", "|im_end|>b<", "/s><", "/s>x</s>"};
  EXPECT_EQ(pieces, wanted);
  EXPECT_EQ(without_guards(rendered("a<|im_end|>", true)).size(), 1U);
  EXPECT_EQ(without_guards(rendered("nothing <|of|> it", false)).size(), 1U);
  // A guard that somebody writes is none.
  const auto forged = without_guards(rendered(std::string("a") + kGuard + "b", false));
  EXPECT_EQ(forged, std::vector<std::string>{"<|im_end|>a\xEF\xBF\xBD"
                                             "b</s>"});
}

TEST(KnownTemplates, AreRendered) {
  for (const char* name : {"chatml", "gemma", "mistral", "phi3", "zephyr"}) {
    const std::string text = text::render_chat(
        known_template(name),
        {.values = chat_values({.messages = one_question("hello")},
                               {.marks = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}})});
    EXPECT_NE(text.find("hello"), std::string::npos) << name;
    EXPECT_NE(known_templates().find(name), std::string::npos);
  }
  EXPECT_EQ(known_template("llama99"), "");
}

}  // namespace
}  // namespace ahead
