// Where templates are found in a folder, and what is refused.
#include "text/chat_source.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "ahead/error.h"

namespace ahead::text {
namespace {

namespace fs = std::filesystem;

class ChatSourceTest : public testing::Test {
 protected:
  ChatSourceTest() { fs::create_directories(folder_); }
  ~ChatSourceTest() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  void expect_invalid(const std::string& part) {
    try {
      (void)read_chat_source(folder_);
      FAIL() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("ahead-chat-" + std::to_string(std::random_device{}()));
};

TEST_F(ChatSourceTest, AFolderWithoutATemplateHasNone) {
  EXPECT_TRUE(read_chat_source(folder_).templates.empty());
  EXPECT_TRUE(read_chat_source(folder_ / "none").templates.empty());
  put("tokenizer_config.json", R"({"chat_template": null, "bos_token": "<s>"})");
  EXPECT_TRUE(read_chat_source(folder_).templates.empty());
}

TEST_F(ChatSourceTest, TheFileOfItsOwnComesBeforeTheConfigurations) {
  put("tokenizer_config.json",
      R"({"chat_template": "old", "bos_token": {"content": "<s>"}, "eos_token": "</s>",
          "added_tokens_decoder": {"1": {"content": "<s>", "special": true},
                                   "7": {"content": "<think>", "special": false}}})");
  ChatSource source = read_chat_source(folder_);
  EXPECT_EQ(source.templates.at("default"), "old");
  EXPECT_EQ(source.origin, "tokenizer_config.json");
  EXPECT_EQ(source.marks.at("bos_token"), "<s>");
  EXPECT_EQ(source.marks.at("eos_token"), "</s>");
  EXPECT_EQ(source.controls, std::vector<std::string>{"<s>"});
  put("chat_template.jinja", "new");
  source = read_chat_source(folder_);
  EXPECT_EQ(source.templates.at("default"), "new");
  EXPECT_EQ(source.origin, "chat_template.jinja");
}

TEST_F(ChatSourceTest, NamedTemplatesAreChosenByNameAndForTools) {
  put("tokenizer_config.json",
      R"({"chat_template": [{"name": "default", "template": "plain"},
                            {"name": "tool_use", "template": "tools"}]})");
  put("additional_chat_templates/rag.jinja", "documents");
  const ChatSource source = read_chat_source(folder_);
  EXPECT_EQ(chosen_template(source, "", false), "plain");
  EXPECT_EQ(chosen_template(source, "", true), "tools");
  EXPECT_EQ(chosen_template(source, "rag", false), "documents");
  try {
    (void)chosen_template(source, "x", false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'default', 'rag', 'tool_use'"), std::string::npos)
        << error.what();
  }
}

TEST_F(ChatSourceTest, BrokenFilesAreNamed) {
  put("tokenizer_config.json", "{\"a\": 1,\n x");
  expect_invalid("line 2, column 2");
  put("tokenizer_config.json", "[]");
  expect_invalid("not a JSON object");
  put("tokenizer_config.json", R"({"chat_template": 7})");
  expect_invalid("neither a text nor a list");
  put("tokenizer_config.json", R"({"chat_template": [{"name": "x"}]})");
  expect_invalid("a name and a template");
}

}  // namespace
}  // namespace ahead::text
