// Tests of the UTF-8 scan.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace ahead {
namespace {

TEST(Utf8, WholeCharactersOfEveryLengthAreValid) {
  for (const char* text :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << text;
    EXPECT_EQ(to_valid_utf8(text), text);
  }
  const std::string nul("a\0b", 3);
  EXPECT_EQ(to_valid_utf8(nul), nul);
}

TEST(Utf8, OverlongSurrogateAndTooLargeAreInvalid) {
  for (const char* text :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\x80", "\xBF"}) {
    EXPECT_FALSE(is_valid_utf8(text)) << text;
    EXPECT_EQ(next_utf8(text).kind, Utf8Step::Kind::kInvalid);
  }
}

TEST(Utf8, AFaultIsAsLongAsItsMaximalSubpart) {
  // The Unicode standard's own example, chapter 3.9.
  EXPECT_EQ(to_valid_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c\xEF\xBF\xBD\xEF\xBF\xBD"
            "d");
}

TEST(Utf8, ABeginningOfACharacterAtTheEndIsIncomplete) {
  const std::string face = "\xF0\x9F\x98\x80";
  for (std::size_t n = 1; n < face.size(); ++n) {
    const Utf8Step step = next_utf8(face.substr(0, n));
    EXPECT_EQ(step.kind, Utf8Step::Kind::kIncomplete);
    EXPECT_EQ(step.bytes, n);
    EXPECT_EQ(to_valid_utf8(face.substr(0, n)), kReplacementCharacter);
  }
}

TEST(Utf8, ACodePointIsThatOfItsBytes) {
  EXPECT_EQ(code_point("a"), U'a');
  EXPECT_EQ(code_point("\x04"), U'\x04');
  EXPECT_EQ(code_point("é"), U'\u00E9');
  EXPECT_EQ(code_point("日"), U'\u65E5');
  EXPECT_EQ(code_point("😀"), U'\U0001F600');
}

}  // namespace
}  // namespace ahead
