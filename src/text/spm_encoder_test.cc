// SentencePiece's BPE on small vocabularies; against the reference see tests/tokenizer.
// May use: GoogleTest.
#include "text/spm_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "ahead/error.h"

namespace ahead::text {
namespace {

using Ids = std::vector<std::int32_t>;
using Kind = SpmEncoder::Kind;

/// 0 unknown, 1 and 2 control, 3 to 258 bytes, then pieces.
SpmEncoder::Options options(bool space_in_front = true) {
  SpmEncoder::Options made{.space_in_front = space_in_front};
  made.tokens = {
      {"<unk>", 0, Kind::kUnknown}, {"<s>", 0, Kind::kControl}, {"</s>", 0, Kind::kControl}};
  constexpr const char* kHex = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    made.tokens.push_back(
        {std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">", 0, Kind::kByte});
  }
  float score = 0;
  for (const char* piece : {"\u2581", "a", "b", "ab", "\u2581a", "\u2581ab", "c", "bc"}) {
    made.tokens.push_back({piece, score, Kind::kNormal});
    score -= 1;
  }
  made.tokens.push_back({"\u2581\u2581\u2581", 0, Kind::kUserDefined});  // 267
  made.tokens.push_back({"\u2581\u2581", 0, Kind::kUserDefined});
  made.tokens.push_back({"unused", 0, Kind::kUnused});
  return made;
}
constexpr std::int32_t kByte0 = 3;
constexpr std::int32_t kSpace = 259;
constexpr std::int32_t kA = 260;
constexpr std::int32_t kB = 261;
constexpr std::int32_t kAb = 262;
constexpr std::int32_t kSpaceAb = 264;
constexpr std::int32_t kC = 265;
constexpr std::int32_t kThree = 267;
constexpr std::int32_t kTwo = 268;

std::string decoded(const SpmEncoder& encoder, const Ids& ids) {
  return encoder.decode(ids.data(), ids.size());
}

TEST(SpmEncoder, MergesByScoreBehindASpaceInFront) {
  EXPECT_EQ(SpmEncoder(options()).encode("ab"), (Ids{kSpaceAb}));
  EXPECT_EQ(SpmEncoder(options(false)).encode("ab"), (Ids{kAb}));
  // "ab" scores more than "bc".
  EXPECT_EQ(SpmEncoder(options(false)).encode("abc"), (Ids{kAb, kC}));
  EXPECT_EQ(SpmEncoder(options()).encode(""), Ids{});
}

TEST(SpmEncoder, RunsOfSpacesThatTheFileMarksAreMatchedFirstTheLongestFirst) {
  const SpmEncoder encoder(options(false));
  EXPECT_EQ(encoder.encode("a   b"), (Ids{kA, kThree, kB}));
  EXPECT_EQ(encoder.encode("a     b"), (Ids{kA, kThree, kTwo, kB}));
  EXPECT_EQ(encoder.encode("a b"), (Ids{kA, kSpace, kB}));
}

TEST(SpmEncoder, WhatHasNoPieceIsSpelledInBytes) {
  const SpmEncoder encoder(options(false));
  EXPECT_EQ(encoder.encode("a\n\u00E4"), (Ids{kA, kByte0 + 0x0A, kByte0 + 0xC3, kByte0 + 0xA4}));
  EXPECT_EQ(decoded(encoder, encoder.encode("a\n\u00E4")), "a\n\u00E4");
  EXPECT_EQ(encoder.encode("unused").size(), 6U) << "letter by letter: it is not in use";
}

TEST(SpmEncoder, ControlTokensWrittenOutAreOneIdAndHaveNoText) {
  const SpmEncoder encoder(options());
  EXPECT_EQ(encoder.encode("<s>ab</s>ab"), (Ids{1, kSpaceAb, 2, kSpaceAb}));
  EXPECT_EQ(decoded(encoder, {2, kSpaceAb}), "ab");
}

TEST(SpmEncoder, TheSpaceInFrontGoesAtTheBeginningAlone) {
  const SpmEncoder encoder(options());
  EXPECT_EQ(decoded(encoder, {kSpaceAb, kSpaceAb}), "ab ab");
  EXPECT_EQ(decoded(encoder, {1, kSpaceAb, 2, kSpaceAb}), "ab ab") << "what has no text is nothing";
  EXPECT_EQ(decoded(encoder, {kA, kSpaceAb}), "a ab");
  EXPECT_EQ(decoded(SpmEncoder(options(false)), {kSpaceAb}), " ab");
}

TEST(SpmEncoder, WithoutTokensForBytesItTakesTheUnknownOneOrIsRefused) {
  SpmEncoder::Options lacking = options(false);
  lacking.tokens[kByte0 + 0xA4].kind = Kind::kUnused;
  EXPECT_EQ(SpmEncoder(lacking).encode("a\u00E4"), (Ids{kA, 0}));
  lacking.tokens[0].kind = Kind::kControl;
  try {
    const SpmEncoder refused(lacking);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
    EXPECT_NE(std::string(error.what()).find("byte 164"), std::string::npos) << error.what();
  }
}

TEST(SpmEncoder, ScoresThatAreNoNumbersAndHolesDoNoHarm) {
  SpmEncoder::Options strange = options(false);
  strange.tokens[kAb].score = std::numeric_limits<float>::quiet_NaN();
  strange.tokens[kB].text.clear();
  EXPECT_EQ(SpmEncoder(strange).encode("ab"), (Ids{kA, kByte0 + 'b'}));
  EXPECT_EQ(decoded(SpmEncoder(strange), {-1, 100'000, kA}), "a");
}

TEST(SpmEncoder, RandomTextsComeBack) {
  const SpmEncoder with(options());
  const SpmEncoder without(options(false));
  std::mt19937 random(5);
  const std::string letters[] = {"a",      "b",  "c",          " ",  "  ",
                                 "\u00E4", "\n", "\U0001F600", "<s", "ab"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t i = random() % 30; i > 0; --i) text += letters[random() % std::size(letters)];
    ASSERT_EQ(decoded(with, with.encode(text)), text);
    ASSERT_EQ(decoded(without, without.encode(text)), text);
  }
}

TEST(SpmEncoder, ThousandsOfTokensThatBeginAlikeAreNotAllCompared) {
  SpmEncoder::Options many = options(false);
  for (int i = 0; i < 6000; ++i) {
    many.tokens.push_back({"<unused" + std::to_string(i) + ">", 0, Kind::kUserDefined});
  }
  const std::string text(1U << 18U, '<');
  EXPECT_EQ(SpmEncoder(many).encode(text).size(), text.size()) << "in bytes";
  EXPECT_EQ(SpmEncoder(many).encode("<unused12>"), (Ids{270 + 12}));
}

TEST(SpmEncoder, AMegabyteInOneWordIsNoSquare) {
  std::string text;
  while (text.size() < (1U << 20U)) text += "abab";
  EXPECT_EQ(SpmEncoder(options(false)).encode(text).size(), text.size() / 2);
}

}  // namespace
}  // namespace ahead::text
