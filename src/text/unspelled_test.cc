// A vocabulary of bytes that lacks some.
#include "text/unspelled.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ahead::text {
namespace {

/// A token a byte, but for those that are missing.
class Bytes final : public Tokenizer {
 public:
  explicit Bytes(std::set<unsigned char> missing) : missing_(std::move(missing)) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    ++calls;
    std::vector<std::int32_t> ids;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (!missing_.contains(byte)) ids.push_back(byte);
    }
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) text += static_cast<char>(id);
    return text;
  }
  std::vector<std::int32_t> prefix() const override { return {}; }
  const std::vector<std::int32_t>& end_tokens() const override { return none_; }

  mutable int calls = 0;

 private:
  const std::set<unsigned char> missing_;
  const std::vector<std::int32_t> none_;
};

TEST(Unspelled, WhereEverythingIsThereNothingIsTold) {
  const Bytes all({});
  const Unspelled found =
      unspelled(all, "The sea\n is \t blue: \xE6\x97\xA5 \x04 \xF1\x80\x80\x80");
  EXPECT_EQ(found.characters, 0);
  EXPECT_EQ(found.first, "");
  EXPECT_EQ(found.broken_bytes, 0);
  EXPECT_EQ(found.broken_at, -1);
  EXPECT_EQ(all.calls, 1);
}

TEST(Unspelled, ACharacterIsCountedEachTimeAndTheFirstIsNamed) {
  const Bytes some({0x04, 0x14, 0xF1});
  const Unspelled found = unspelled(some, "a\x14 b\x04 c\x14 \xC3\xA9");
  EXPECT_EQ(found.characters, 3);
  EXPECT_EQ(found.first, "U+0014");
}

TEST(Unspelled, ACharacterOfWhichAByteIsMissingIsOne) {
  const Unspelled found = unspelled(Bytes({0xF1}), "A \xF1\x80\x80\x80 \xF0\x9F\x98\x80");
  EXPECT_EQ(found.characters, 1);
  EXPECT_EQ(found.first, "U+40000");
}

TEST(Unspelled, ManyCharactersAreNotTriedOneByOne) {
  const Bytes some({0x04});
  std::string text = "\x04";
  for (int i = 0; i < 30; ++i) text += {'\xE6', '\x97', static_cast<char>(0x80 + i)};
  EXPECT_EQ(unspelled(some, text).characters, 1);
  EXPECT_LT(some.calls, 15);
}

TEST(Unspelled, BytesThatAreNoUtf8AreCountedApart) {
  const Unspelled found = unspelled(Bytes({}), "Caf\xE9 \xFF\xFE.");
  EXPECT_EQ(found.characters, 0);
  EXPECT_EQ(found.broken_bytes, 3);
  EXPECT_EQ(found.broken_at, 3);
}

TEST(Unspelled, AnEmptyTextIsSpelled) { EXPECT_EQ(unspelled(Bytes({}), "").characters, 0); }

TEST(Unspelled, NulIsACharacterLikeOthers) {
  EXPECT_EQ(unspelled(Bytes({0}), std::string_view("a\0b", 3)).first, "U+0000");
}

}  // namespace
}  // namespace ahead::text
