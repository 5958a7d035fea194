// Tests of the byte-level alphabet.
#include "text/byte_level.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ahead::text {
namespace {

std::string utf8(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

TEST(ByteLevel, TheAlphabetSpellsEveryByteOnce) {
  std::set<std::string> bytes;
  for (unsigned code = 0; code < 0x200; ++code) {
    if (const auto spelt = bytes_of_token(utf8(code))) {
      EXPECT_EQ(spelt->size(), 1U);
      EXPECT_TRUE(bytes.insert(*spelt).second) << code;
    }
  }
  EXPECT_EQ(bytes.size(), 256U);
}

TEST(ByteLevel, KnownEntriesAreSpelt) {
  EXPECT_EQ(bytes_of_token("hello!~"), "hello!~");
  EXPECT_EQ(bytes_of_token("\xC4\xA0the"), " the");                       // U+0120
  EXPECT_EQ(bytes_of_token("\xC4\x8A\xC4\x8A"), "\n\n");                  // U+010A
  EXPECT_EQ(bytes_of_token("\xC4\x80"), std::string(1, '\0'));            // U+0100
  EXPECT_EQ(bytes_of_token("\xC5\x83"), "\xAD");                          // U+0143, the last
  EXPECT_EQ(bytes_of_token("\xC3\xA4\xC2\xBD\xC5\x82"), "\xE4\xBD\xA0");  // one CJK character
  EXPECT_EQ(bytes_of_token(""), "");
}

TEST(ByteLevel, CharactersOutsideTheAlphabetAreNotSpelt) {
  for (const char* token : {"a b", "\t", "\x7F", "\xC2\xA0", "\xC2\xAD", "\xC5\x84", "\xE4\xBD\xA0",
                            "\xF0\x9F\x98\x80", "\xFF", "a\xC4"}) {
    EXPECT_EQ(bytes_of_token(token), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace ahead::text
