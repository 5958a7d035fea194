// What messages may carry to a terminal. May use: base.
#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

#include "base/utf8.h"

namespace ahead {
namespace {

TEST(Printable, IsOneLineWithSingleBlanks) {
  EXPECT_EQ(printable(" a\n\tb \r\n c "), "a b c");
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable(" \n"), "");
}

TEST(Printable, KeepsWhatIsOnlyShown) {
  EXPECT_EQ(printable("Größe 日本語 😀 e\u0301"), "Größe 日本語 😀 e\u0301");
}

TEST(Printable, ShowsWhatATerminalWouldObeyAsAQuestionMark) {
  EXPECT_EQ(printable("lla\033[31mma"), "lla?[31mma");
  EXPECT_EQ(printable("a\u009B31mb"), "a?31mb");      // C1's way to begin a sequence
  EXPECT_EQ(printable("gnp.\u202Eexe"), "gnp.?exe");  // turns the direction of what follows
  EXPECT_EQ(printable("a\u2028b\uFEFFc\x7F"), "a?b?c?");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
}

TEST(Printable, MakesBrokenBytesValidUtf8) {
  EXPECT_EQ(printable("caf\xE9"), "caf?");
  EXPECT_EQ(printable("\xF0\x9F\x98"), "?");
  EXPECT_EQ(printable("\xC0\xAF"), "??");
}

TEST(InQuotes, KeepsTheBeginningOfALongValueWhole) {
  EXPECT_EQ(in_quotes("a  b"), "'a  b'");
  EXPECT_EQ(in_quotes("a\nb"), "'a b'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(100, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(101, 'x')), "'" + std::string(100, 'x') + "...'");
  // Not in the middle of a character.
  const std::string long_value = std::string(99, 'x') + "éé";
  EXPECT_EQ(in_quotes(long_value), "'" + std::string(99, 'x') + "...'");
  EXPECT_TRUE(is_valid_utf8(in_quotes(std::string(99, 'x') + "😀" + std::string(50, 'y'))));
}

TEST(InQuotes, IsNotFooledByBrokenBytesAtTheCut) {
  EXPECT_EQ(in_quotes(std::string(103, '\x80')), "'" + std::string(100, '?') + "...'");
}

TEST(PathInQuotes, KeepsTheEndWhereTheNameStands) {
  const std::string folder(150, 'd');
  const std::string shown = path_in_quotes("/" + folder + "/model.gguf");
  EXPECT_EQ(shown.substr(0, 5), "'...d");
  EXPECT_EQ(shown.substr(shown.size() - 12), "/model.gguf'");
  EXPECT_EQ(shown.size(), 100 + 5);
  EXPECT_EQ(path_in_quotes("short/p.txt"), "'short/p.txt'");
  EXPECT_TRUE(is_valid_utf8(path_in_quotes(folder + "/" + std::string(99, 'x') + "é")));
}

}  // namespace
}  // namespace ahead
