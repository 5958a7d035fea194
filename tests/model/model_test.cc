// What a model tells of texts and of its own file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/error.h"
#include "ahead/llm_pipeline.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

const Model& smollm2() {
  static const Model model(smollm2_gguf());
  return model;
}

/// A copy of the tiny model, with other bytes in the place of some of the same length.
class TinyCopy {
 public:
  explicit TinyCopy(std::string_view from = "", std::string_view to = "")
      : path_(fs::temp_directory_path() /
              ("ahead-model-" + std::to_string(std::random_device{}()) + ".gguf")) {
    std::ifstream file(qwen2_gguf(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos);
    bytes.replace(at, to.size(), to);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TinyCopy() { fs::remove(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

TEST(Model, APromptThatBeginsWithTheFirstTokenDoesNotGetItTwice) {
  // The file says that no first token is wanted; here it says that one is.
  const std::string key = "tokenizer.ggml.add_bos_token\7\0\0\0"s;
  const TinyCopy copy(key, key + '\1');
  const Model model(copy.path().string());
  const std::vector<std::int32_t> first = model.prefix();
  ASSERT_EQ(first.size(), 1U);

  const PromptIds plain = model.prompt_ids("the");
  EXPECT_FALSE(plain.prefix_was_there);
  EXPECT_EQ(plain.ids.front(), first.front());
  EXPECT_EQ(plain.ids.size(), model.encode("the").size() + 1);

  const PromptIds rendered = model.prompt_ids("<|endoftext|>the");
  EXPECT_TRUE(rendered.prefix_was_there);
  EXPECT_EQ(rendered.ids, plain.ids);

  EXPECT_EQ(model.prompt_ids("").ids, first);
}

TEST(Model, WithoutAFirstTokenAPromptIsItsText) {
  const PromptIds prompt = smollm2().prompt_ids("<|im_start|>user");
  EXPECT_FALSE(prompt.prefix_was_there);
  EXPECT_EQ(prompt.ids, smollm2().encode("<|im_start|>user"));
}

TEST(Model, TellsWhatOfATextItsVocabularyCannotSpell) {
  struct Row {
    std::string_view text;
    std::int64_t count;
    std::string first;
  };
  const std::vector<Row> rows = {
      {"The sea is blue", 0, ""},
      {"The sea\x04 is \x14"
       "blue\x04",
       3, "U+0004"},
      {"A \xF1\x80\x80\x80 B", 1, "U+40000"},
      {"<|im_start|>user\nCaf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80<|im_end|>", 0, ""},
      {"\x04\x06", 2, "U+0004"},
  };
  for (const Row& row : rows) {
    const UnspelledText found = smollm2().unspelled(row.text);
    EXPECT_EQ(found.count, row.count) << row.text;
    EXPECT_EQ(found.first, row.first) << row.text;
    EXPECT_EQ(found.broken_utf8, 0) << row.text;
  }
  EXPECT_EQ(smollm2().unspelled("Das Caf\xE9 ist").broken_utf8, 1);
  EXPECT_EQ(smollm2().unspelled("Das Caf\xE9 ist").broken_at, 7);
}

TEST(Model, AnIrFoldersVocabularyIsAskedLikeAGgufFiles) {
  const Model model(smollm2_ir());
  EXPECT_EQ(model.unspelled("The sea\x04 is blue").first, "U+0004");
  EXPECT_EQ(model.unspelled("Caf\xC3\xA9 \xF0\x9F\x98\x80").count, 0);
}

TEST(Model, TheChecksumIsThatOfTheFileThatWasOpened) {
  const TinyCopy copy;
  const Model model(copy.path().string());
  const std::string before = model.sha256();
  EXPECT_EQ(before.size(), 64U);
  fs::rename(copy.path(), copy.path().string() + ".gone");
  EXPECT_EQ(model.sha256(), before);
  std::ofstream(copy.path()) << "another file";
  EXPECT_EQ(model.sha256(), before);
  fs::remove(copy.path().string() + ".gone");
  EXPECT_EQ(model.sha256(), before);
}

TEST(Model, AFileThatWasWrittenToHasNoChecksumAnyMore) {
  const TinyCopy copy;
  const Model model(copy.path().string());
  std::ofstream(copy.path(), std::ios::binary | std::ios::app) << "more";
  try {
    (void)model.sha256();
    FAIL() << "hashed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(error.what()).find(".gguf'"), std::string::npos) << error.what();
  }
}

TEST(Model, AForcedTokenDoesNotHideABrokenNumber) {
  const TinyCopy copy;
  {
    // The last tensor of the file is the output matrix: its last weight.
    std::fstream file(copy.path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-2, std::ios::end);
    file.write("\x00\x7E", 2);  // f16 NaN
  }
  LLMPipeline pipeline(copy.path().string(), "CPU", {.axes = {.ladder = {64}}});
  const std::vector<std::int32_t> prompt = {10, 20};
  GenerationConfig config;
  config.forced_token_ids = {30, 40};
  config.max_new_tokens = 2;
  const auto expect_told = [](const std::string& text) {
    EXPECT_NE(text.find("NaN"), std::string::npos) << text;
    EXPECT_NE(text.find("file"), std::string::npos) << text;
    EXPECT_NE(text.find("device"), std::string::npos) << text;
  };
  try {
    expect_told(pipeline.generate(prompt, config).error);
  } catch (const Error& error) {
    expect_told(error.what());
  }
  try {
    const std::vector<std::vector<std::int32_t>> prompts = {prompt, {11}};
    expect_told(pipeline.generate_batch(prompts, config).error);
  } catch (const Error& error) {
    expect_told(error.what());
  }
}

}  // namespace
}  // namespace ahead::test
