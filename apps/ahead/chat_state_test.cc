// Conversations, typed lines and thoughts. May use: include/ahead, GoogleTest, nlohmann-json.
#include "chat_state.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

std::string words(const ChatState& state) {
  std::string out;
  for (const auto& message : nlohmann::json::parse(state.messages())) {
    out += message["role"].get<std::string>().substr(0, 1) + ":" +
           message["content"].get<std::string>() + " ";
  }
  return out;
}

TEST(ChatState, TurnsAreKeptUndoneAndDropped) {
  ChatState state("be brief");
  EXPECT_FALSE(state.undo());
  EXPECT_FALSE(state.drop_oldest());
  state.ask("a");
  state.answer("b");
  state.ask("c");
  EXPECT_EQ(words(state), "s:be brief u:a a:b u:c ");
  EXPECT_EQ(state.questions(), 2U);
  EXPECT_TRUE(state.drop_oldest());
  EXPECT_EQ(words(state), "s:be brief u:c ");
  EXPECT_FALSE(state.drop_oldest()) << "the last question stays";
  state.answer("d");
  EXPECT_TRUE(state.undo());
  EXPECT_EQ(words(state), "s:be brief ");
  state.set_system("");
  state.ask("\xFF");
  EXPECT_EQ(words(state), "u:\xEF\xBF\xBD ");
  state.reset();
  EXPECT_EQ(words(state), "");
}

TEST(ChatState, WhatIsSavedIsLoaded) {
  ChatState state("s");
  state.ask("a\n\"b\"");
  state.answer("c");
  ChatState other("");
  other.load("x", state.messages());
  EXPECT_EQ(other.messages(), state.messages());
  EXPECT_THROW(other.load("x", "[1]"), Error);
  EXPECT_THROW(other.load("x", R"([{"role":"tool","content":"a"}])"), Error);
  EXPECT_EQ(other.messages(), state.messages()) << "nothing is changed by what is refused";
}

TEST(ChatLines, CommandsBeginWithASlash) {
  const auto parsed = [](std::string_view line) {
    const ChatLine parts = parse_chat_line(line);
    return parts.command + "|" + parts.text;
  };
  EXPECT_EQ(parsed("hello /help"), "|hello /help");
  EXPECT_EQ(parsed("/help"), "/help|");
  EXPECT_EQ(parsed("/system  be brief "), "/system|be brief");
  EXPECT_EQ(parsed("//etc/hosts?"), "|/etc/hosts?");
  EXPECT_EQ(parsed(""), "|");
}

std::string through(Thoughts::Show show, const std::string& text, std::size_t step) {
  Thoughts thoughts(show);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += step)
    out += thoughts.take(text.substr(at, step));
  return out + thoughts.finish();
}

TEST(ThoughtsTest, AreDimmedOrHiddenHoweverTheTextComes) {
  const std::string text = "a<think>b <th </thin</think>c<";
  for (const std::size_t step : {1U, 2U, 3U, 7U, 100U}) {
    EXPECT_EQ(through(Thoughts::Show::kPlain, text, step), text);
    EXPECT_EQ(through(Thoughts::Show::kHidden, text, step), "ac<");
    EXPECT_EQ(through(Thoughts::Show::kDimmed, text, step),
              "a\x1b[2m"
              "b <th </thin\x1b[22m"
              "c<");
    EXPECT_EQ(through(Thoughts::Show::kHidden, "x<think>never ended", step), "x");
    EXPECT_EQ(through(Thoughts::Show::kDimmed, "<think>y", step), "\x1b[2my\x1b[22m");
  }
}

}  // namespace
}  // namespace ahead::cli
