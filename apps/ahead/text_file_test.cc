// Files as editors of several systems write them. May use: include/ahead.
#include "text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string text_of(const std::string& bytes) {
  return plain_text("--prompt-file 'p'", bytes).text;
}

TEST(PlainText, IsTheSameHoweverAnEditorWroteIt) {
  for (const std::string& bytes :
       {"The sea is"s, "The sea is\n"s, "The sea is\r\n"s, "The sea is\r"s,
        "\xEF\xBB\xBFThe sea is"s, "\xEF\xBB\xBFThe sea is\r\n"s}) {
    EXPECT_EQ(text_of(bytes), "The sea is");
    EXPECT_THAT(plain_text("f", bytes).notes, IsEmpty());
  }
}

TEST(PlainText, KeepsWhatIsPartOfIt) {
  EXPECT_EQ(text_of(" a \n\n"), " a \n");  // of several line ends only the last is the editor's
  EXPECT_EQ(text_of("a\r\nb\r\n\r\nc"), "a\nb\n\nc");
  EXPECT_EQ(text_of("a\rb\r"), "a\nb");
  EXPECT_EQ(text_of("50 %\r of\n"), "50 %\r of");  // a lone CR between line ends of another kind
  EXPECT_EQ(text_of("a\0b"s), "a\0b"s);
  EXPECT_EQ(text_of("a\xEF\xBB\xBF"), "a\xEF\xBB\xBF");  // a mark that begins nothing
  EXPECT_EQ(text_of(""), "");
}

TEST(PlainText, OfAnotherEncodingIsRefusedWithTheWayToConvertIt) {
  struct Case {
    std::string bytes;
    const char* name;
  };
  for (const Case& wide :
       {Case{"\xFF\xFEH\0i\0"s, "UTF-16LE"}, Case{"\xFE\xFF\0H\0i"s, "UTF-16BE"},
        Case{"\xFF\xFE\0\0H\0\0\0"s, "UTF-32LE"}, Case{"\0\0\xFE\xFF\0\0\0H"s, "UTF-32BE"},
        Case{"H\0e\0l\0l\0o\0"s, "UTF-16LE"}, Case{"\0H\0e\0l\0l\0o"s, "UTF-16BE"}}) {
    try {
      (void)plain_text("--prompt-file 'p.txt'", wide.bytes);
      ADD_FAILURE() << wide.name << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("p.txt"), HasSubstr("iconv -f "s + wide.name + " ")));
    }
  }
}

TEST(PlainText, ThatIsNotAllUtf8IsToldOnceWithThePlace) {
  const PlainText latin = plain_text("--prompt-file 'p.txt'", "Das Caf\xE9 ist \xFC");
  EXPECT_EQ(latin.text, "Das Caf\xE9 ist \xFC");
  EXPECT_THAT(latin.notes, ElementsAre(AllOf(HasSubstr("p.txt"), HasSubstr("2 faults"),
                                             HasSubstr("byte 7"), HasSubstr("iconv"))));
  EXPECT_THAT(note_on_utf8("the prompt", "gr\xFCn"),
              ElementsAre(AllOf(HasSubstr("1 fault, at byte 2"), HasSubstr("the prompt"))));
  EXPECT_THAT(note_on_utf8("the prompt", "grün 😀"), IsEmpty());
}

TEST(Lines, BlankOnesAtTheEndAreNone) {
  EXPECT_THAT(lines_of("a\nb\n\n \t\n"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_of("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of("\n\n"), IsEmpty());
  EXPECT_THAT(lines_of(""), IsEmpty());
}

}  // namespace
}  // namespace ahead::cli
