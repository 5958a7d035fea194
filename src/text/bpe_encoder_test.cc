// Byte pair encoding against its definition, merge by merge. May use: GoogleTest.
#include "text/bpe_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ahead::text {
namespace {

using Ids = std::vector<std::int32_t>;
using Merges = std::vector<std::pair<std::string, std::string>>;

Ids encode(const BpeEncoder::Options& options, const std::string& piece) {
  Ids ids;
  BpeEncoder(options).encode(piece, ids);
  return ids;
}

/// The definition: the most urgent merge anywhere, leftmost first, until none is left.
Ids by_definition(const BpeEncoder::Options& options, const std::string& piece) {
  std::vector<std::string> parts;
  for (const char c : piece) parts.emplace_back(1, c);
  for (bool merged = true; merged;) {
    merged = false;
    for (const auto& [left, right] : options.merges) {
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        if (parts[i] != left || parts[i + 1] != right) continue;
        parts[i] += right;
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        merged = true;
        break;
      }
      if (merged) break;
    }
  }
  Ids ids;
  for (const std::string& part : parts) {
    const auto found = std::find(options.tokens.begin(), options.tokens.end(), part);
    ids.push_back(static_cast<std::int32_t>(found - options.tokens.begin()));
  }
  return ids;
}

const BpeEncoder::Options kSmall = {
    .tokens = {"a", "b", "c", "ab", "bc", "abc", "aab", "whole", "w", "h", "o", "l", "e"},
    .merges = {{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"a", "ab"}}};

TEST(BpeEncoder, TheMostUrgentMergeComesFirst) {
  EXPECT_EQ(encode(kSmall, "abc"), (Ids{5}));  // b c, then a bc
  EXPECT_EQ(encode(kSmall, "ab"), (Ids{3}));
  EXPECT_EQ(encode(kSmall, "aab"), (Ids{6}));
  EXPECT_EQ(encode(kSmall, ""), Ids{});
}

TEST(BpeEncoder, WholePiecesAreLookedUpOnlyWhereTheyAreToBe) {
  BpeEncoder::Options options = kSmall;
  EXPECT_EQ(encode(options, "whole"), (Ids{8, 9, 10, 11, 12}));
  options.whole_pieces = true;
  EXPECT_EQ(encode(options, "whole"), (Ids{7}));
  EXPECT_EQ(encode(options, "wholea"), (Ids{8, 9, 10, 11, 12, 0}));
}

TEST(BpeEncoder, BytesThatTheVocabularyLacksAreLeftOut) {
  EXPECT_EQ(encode(kSmall, "a?b"), (Ids{3}));
  EXPECT_EQ(encode(kSmall, "???"), Ids{});
}

TEST(BpeEncoder, AMergeThatNamesNoTokenIsNone) {
  BpeEncoder::Options options = kSmall;
  options.merges.insert(options.merges.begin(), {{"a", "x"}, {"c", "c"}});
  EXPECT_EQ(encode(options, "abcc"), (Ids{5, 2}));
}

TEST(BpeEncoder, RandomPiecesAreAsTheDefinitionSays) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    BpeEncoder::Options options{.tokens = {"a", "b", "c"}, .merges = {}};
    for (int merge = 0; merge < 12; ++merge) {
      const std::string left = options.tokens[random() % options.tokens.size()];
      const std::string right = options.tokens[random() % options.tokens.size()];
      if (std::ranges::find(options.tokens, left + right) != options.tokens.end()) continue;
      options.tokens.push_back(left + right);
      options.merges.emplace_back(left, right);
    }
    std::string piece;
    for (std::size_t i = random() % 40; i > 0; --i) piece += static_cast<char>('a' + random() % 3);
    ASSERT_EQ(encode(options, piece), by_definition(options, piece)) << piece;
  }
}

TEST(BpeEncoder, AMegabyteInOnePieceIsNoSquare) {
  const std::string piece(1U << 20U, 'a');
  BpeEncoder::Options options{.tokens = {"a", "aa", "aaaa"}, .merges = {{"a", "a"}, {"aa", "aa"}}};
  EXPECT_EQ(encode(options, piece).size(), piece.size() / 4);
}

}  // namespace
}  // namespace ahead::text
