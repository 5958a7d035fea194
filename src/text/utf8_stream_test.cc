// Tests of incremental detokenisation, over made-up vocabularies.
#include "text/utf8_stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace ahead::text {
namespace {

/// Token i stands for the i-th string.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::size_t longest_call = 0;
  std::size_t calls = 0;

  std::string decode(std::span<const std::int32_t> ids) {
    ++calls;
    longest_call = std::max(longest_call, ids.size());
    std::string text;
    for (const std::int32_t id : ids) text += tokens[static_cast<std::size_t>(id)];
    return text;
  }
  Utf8Stream stream() {
    return Utf8Stream([this](std::span<const std::int32_t> ids) { return decode(ids); });
  }
};

TEST(Utf8Stream, HoldsBackEveryPartOfACharacter) {
  Vocabulary bytes{{"\xF0", "\x9F", "\x98", "\x80", "a"}};
  Utf8Stream stream = bytes.stream();
  EXPECT_EQ(stream.push(4), "a");
  EXPECT_EQ(stream.push(0), "");
  EXPECT_EQ(stream.push(1), "");
  EXPECT_EQ(stream.push(2), "");
  EXPECT_EQ(stream.push(3), "\xF0\x9F\x98\x80");
  EXPECT_EQ(stream.flush(), "");
}

TEST(Utf8Stream, ATokenMayEndOneCharacterAndBeginTheNext) {
  Vocabulary split{{"x\xE4\xBD", "\xA0\xE5\xA5", "\xBD!"}};
  Utf8Stream stream = split.stream();
  EXPECT_EQ(stream.push(0), "x");
  EXPECT_EQ(stream.push(1), "\xE4\xBD\xA0");
  EXPECT_EQ(stream.push(2), "\xE5\xA5\xBD!");
}

TEST(Utf8Stream, FlushReplacesAnIncompleteEndOnce) {
  Vocabulary bytes{{"\xF0\x9F\x98"}};
  Utf8Stream stream = bytes.stream();
  EXPECT_EQ(stream.push(0), "");
  EXPECT_EQ(stream.flush(), kReplacementCharacter);
  EXPECT_EQ(stream.flush(), "");
}

TEST(Utf8Stream, BytesThatAreNoCharacterAreReplacedAndDoNotPileUp) {
  Vocabulary bytes{{"\xE4", "\xFF", "a"}};
  Utf8Stream stream = bytes.stream();
  EXPECT_EQ(stream.push(0), "");
  EXPECT_EQ(stream.push(0), kReplacementCharacter);
  EXPECT_EQ(stream.push(1),
            std::string(kReplacementCharacter) + std::string(kReplacementCharacter));
  EXPECT_EQ(stream.push(2), "a");
}

TEST(Utf8Stream, TokensWithoutTextAreSkipped) {
  Vocabulary special{{"", "a", "b"}};
  Utf8Stream stream = special.stream();
  std::string text;
  for (const std::int32_t id : {0, 1, 0, 0, 2, 0}) text += stream.push(id);
  EXPECT_EQ(text, "ab");
}

TEST(Utf8Stream, TheConcatenationIsTheWholeText) {
  const std::string text = "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB z";
  // Every way of cutting the text into tokens of equal length.
  for (std::size_t width = 1; width <= text.size(); ++width) {
    Vocabulary cut;
    for (std::size_t at = 0; at < text.size(); at += width)
      cut.tokens.push_back(text.substr(at, width));
    Utf8Stream stream = cut.stream();
    std::string out;
    for (std::size_t id = 0; id < cut.tokens.size(); ++id) {
      const std::string piece = stream.push(static_cast<std::int32_t>(id));
      EXPECT_TRUE(is_valid_utf8(piece));
      out += piece;
    }
    EXPECT_EQ(out + stream.flush(), text) << "width " << width;
  }
}

TEST(Utf8Stream, KeepsTheSpaceADecoderDropsAtTheBeginning) {
  // As SentencePiece: words carry their leading space, the text's first space is dropped.
  Vocabulary words{{" Hello", " world", "", " again"}};
  Utf8Stream stream([&](std::span<const std::int32_t> ids) {
    std::string text = words.decode(ids);
    if (text.starts_with(' ')) text.erase(0, 1);
    return text;
  });
  std::string text;
  for (const std::int32_t id : {0, 1, 2, 3}) text += stream.push(id);
  EXPECT_EQ(text, "Hello world again");
}

TEST(Utf8Stream, GoesOnBehindAPromptWithTheSpaceBetween) {
  Vocabulary words{{" Hello", " world", ""}};
  const auto decode = [&](std::span<const std::int32_t> ids) {
    std::string text = words.decode(ids);
    if (text.starts_with(' ')) text.erase(0, 1);
    return text;
  };
  Utf8Stream stream(decode, 0);
  EXPECT_EQ(stream.push(1), " world");
  Utf8Stream behind_silence(decode, 2);
  EXPECT_EQ(behind_silence.push(1), "world");
}

TEST(Utf8Stream, WorkPerTokenDoesNotGrowWithTheText) {
  Vocabulary letters{{"a", "b", ""}};
  Utf8Stream stream = letters.stream();
  constexpr std::size_t kTokens = 10000;
  for (std::size_t i = 0; i < kTokens; ++i) {
    EXPECT_LE(stream.push(static_cast<std::int32_t>(i % 3)).size(), 1U);
  }
  EXPECT_LE(letters.longest_call, 2U);
  EXPECT_LE(letters.calls, 2 * kTokens);
}

}  // namespace
}  // namespace ahead::text
