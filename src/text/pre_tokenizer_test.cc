// Tests of the pre-tokenizer table. Whether the expressions are right is for the parity test.
#include "text/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ahead/error.h"

namespace ahead::text {
namespace {

TEST(PreTokenizer, SmolLmCutsDigitsBeforeWords) {
  ASSERT_EQ(split_patterns("smollm").size(), 2U);
  EXPECT_EQ(split_patterns("smollm")[0], R"(\p{N})");
  EXPECT_EQ(split_patterns("smollm")[1], split_patterns("gpt-2")[0]);
}

TEST(PreTokenizer, AnUnknownNameIsRefusedWithWhatIsKnown) {
  for (const char* pre : {"", "default", "llama-bpe", "SMOLLM"}) {
    try {
      (void)split_patterns(pre);
      ADD_FAILURE() << pre;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupportedModel);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'" + std::string(pre) + "'"),
                                               testing::HasSubstr("gpt-2, smollm, qwen2")));
    }
  }
}

TEST(PreTokenizer, OnlyQwen2ComposesCharacters) {
  EXPECT_TRUE(composes_characters("qwen2"));
  EXPECT_FALSE(composes_characters("smollm"));
  EXPECT_FALSE(composes_characters("gpt-2"));
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
