// Tests of the pre-tokenizer table. Whether the expressions are right is for the parity test.
#include "text/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ahead/error.h"

namespace ahead::text {
namespace {

TEST(PreTokenizer, SmolLmCutsDigitsBeforeWords) {
  ASSERT_EQ(pre_tokenizer("smollm").patterns.size(), 2U);
  EXPECT_EQ(pre_tokenizer("smollm").patterns[0], R"(\p{N})");
  EXPECT_EQ(pre_tokenizer("smollm").patterns[1], pre_tokenizer("gpt-2").patterns[0]);
}

TEST(PreTokenizer, AnUnknownNameIsRefusedWithWhatIsKnown) {
  for (const char* pre : {"", "default", "qwen35", "SMOLLM"}) {
    try {
      (void)pre_tokenizer(pre);
      ADD_FAILURE() << pre;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupportedModel);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'" + std::string(pre) + "'"),
                                               testing::HasSubstr("gpt-2, phi-2, mpt")));
    }
  }
}

TEST(PreTokenizer, OnlyQwen2ComposesCharacters) {
  EXPECT_TRUE(pre_tokenizer("qwen2").composes);
  EXPECT_FALSE(pre_tokenizer("smollm").composes);
  EXPECT_FALSE(pre_tokenizer("gpt-2").composes);
}

TEST(PreTokenizer, NamesOfOneGroupAreTheSame) {
  for (const char* name : {"llama3", "llama-v3", "falcon3", "pixtral"}) {
    EXPECT_EQ(pre_tokenizer(name).group, "llama3");
    EXPECT_TRUE(pre_tokenizer(name).whole_pieces && pre_tokenizer(name).first_token);
  }
  EXPECT_EQ(pre_tokenizer("dbrx").patterns, pre_tokenizer("llama-bpe").patterns);
  EXPECT_FALSE(pre_tokenizer("dbrx").whole_pieces || pre_tokenizer("dbrx").first_token);
  EXPECT_TRUE(pre_tokenizer("tekken").whole_pieces);
  EXPECT_EQ(pre_tokenizer("deepseek-v3").patterns.size(), 3U);
  EXPECT_EQ(pre_tokenizer("command-r").group, "smollm");
}

TEST(PreTokenizer, SpecialTokensAreEscapedAndTheLongestComesFirst) {
  EXPECT_EQ(special_tokens_pattern({"<a>", "<|b.c|>", ""}), R"(\<\|b\.c\|\>|\<a\>)");
  EXPECT_EQ(special_tokens_pattern({"a_1", "\xE4\xBD\xA0 "}), "\xE4\xBD\xA0\\ |a_1");
  EXPECT_EQ(special_tokens_pattern({std::string("\0x", 2)}), R"(\x{0}x)");
}

TEST(PreTokenizer, WithoutSpecialTokensNothingMatches) {
  EXPECT_EQ(special_tokens_pattern({}), "(?!)");
  EXPECT_EQ(special_tokens_pattern({""}), "(?!)");
}

}  // namespace
}  // namespace ahead::text
