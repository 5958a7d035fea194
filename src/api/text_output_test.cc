// Text of a sequence as it is given out: whole characters, up to an end token or a stop string.
// May use: include, text, GoogleTest.
#include "api/text_output.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fake_tokenizer.h"

namespace ahead {
namespace {

/// What came of some tokens.
struct Output {
  std::vector<std::string> pieces;  ///< as streamed
  std::optional<FinishReason> end;
  std::size_t taken = 0;  ///< tokens, up to the one that ended it
  RowResult row;
};

class TextOutputTest : public testing::Test {
 protected:
  /// Feeds the tokens until one ends it.
  Output feed(const std::vector<std::int32_t>& ids) {
    Output made;
    const Streamer streamer = [&](std::string_view text) {
      made.pieces.emplace_back(text);
      return answer_;
    };
    TextOutput output(tokenizer_, config_, streams_ ? streamer : Streamer());
    for (const std::int32_t id : ids) {
      ++made.taken;
      made.end = output.accept(id);
      if (made.end) break;
    }
    output.finish(made.row);
    return made;
  }
  Output feed(std::string_view text) { return feed(tokenizer_.encode(text)); }

  const FakeTokenizer tokenizer_{{FakeTokenizer::kEnd, FakeTokenizer::kEnd + 1}};
  GenerationConfig config_;
  StreamingStatus answer_ = StreamingStatus::kRunning;
  bool streams_ = true;
};

TEST_F(TextOutputTest, ACharacterSplitBetweenTokensIsGivenOutWhole) {
  const Output made = feed("a\xE4\xBD\xA0!\xF0\x9F\x98\x80");
  EXPECT_EQ(made.pieces, (std::vector<std::string>{"a", "\xE4\xBD\xA0", "!", "\xF0\x9F\x98\x80"}));
  EXPECT_EQ(made.row.text, "a\xE4\xBD\xA0!\xF0\x9F\x98\x80");
  EXPECT_EQ(made.row.generated, 9);
  EXPECT_FALSE(made.end);
}

TEST_F(TextOutputTest, WhatEndsInsideACharacterEndsWithAReplacementCharacter) {
  const Output made = feed("ab\xE4\xBD");
  EXPECT_EQ(made.row.text, "ab\xEF\xBF\xBD");
  EXPECT_EQ(made.pieces.back(), "\xEF\xBF\xBD");
}

TEST_F(TextOutputTest, EveryEndTokenEndsItAndHasNoText) {
  for (const std::int32_t end : tokenizer_.end_tokens()) {
    const Output made = feed(std::vector<std::int32_t>{'h', 'i', end, 'x'});
    EXPECT_EQ(made.end, FinishReason::kStop);
    EXPECT_EQ(made.row.text, "hi");
    EXPECT_EQ(made.row.token_ids, (std::vector<std::int32_t>{'h', 'i', end}));
  }
}

TEST_F(TextOutputTest, AnIgnoredEndTokenAndOneThatIsForcedEndNothing) {
  const std::vector<std::int32_t> ids = {'h', FakeTokenizer::kEnd, 'i'};
  config_.ignore_eos = true;
  EXPECT_EQ(feed(ids).row.text, "hi");
  EXPECT_FALSE(feed(ids).end);
  config_.ignore_eos = false;
  config_.forced_token_ids = ids;
  EXPECT_EQ(feed(ids).row.text, "hi");
  EXPECT_FALSE(feed(ids).end);
}

TEST_F(TextOutputTest, AStopStringEndsItWhereverTokensCutIt) {
  config_.stop_strings = {"END", "\xE4\xBD\xA0"};
  const Output made = feed("one E EN END two");
  EXPECT_EQ(made.end, FinishReason::kStop);
  EXPECT_EQ(made.taken, 12U);
  EXPECT_EQ(made.row.text, "one E EN ");
  std::string streamed;
  for (const std::string& piece : made.pieces) streamed += piece;
  EXPECT_EQ(streamed, made.row.text);
  EXPECT_EQ(feed("x\xE4\xBD\xA0y").row.text, "x");
}

TEST_F(TextOutputTest, WhatLooksLikeAStopStringIsGivenOutAtTheEnd) {
  config_.stop_strings = {"END"};
  const Output made = feed("the EN");
  EXPECT_FALSE(made.end);
  EXPECT_EQ(made.row.text, "the EN");
  EXPECT_EQ(made.pieces.back(), "EN");
}

TEST_F(TextOutputTest, ATailThatCompletesAStopStringStaysOut) {
  // The last character is never whole; the replacement that stands for it is in the stop string.
  config_.stop_strings = {"b\xEF\xBF\xBD"};
  EXPECT_EQ(feed("ab\xE4\xBD").row.text, "a");
}

TEST_F(TextOutputTest, TheStreamerEndsItAndHearsNoMore) {
  for (const auto& [said, end] : {std::pair(StreamingStatus::kStop, FinishReason::kStopped),
                                  std::pair(StreamingStatus::kCancel, FinishReason::kCancelled)}) {
    answer_ = said;
    const Output made = feed("ab\xE4");
    EXPECT_EQ(made.end, end);
    EXPECT_EQ(made.pieces, std::vector<std::string>{"a"});
    EXPECT_EQ(made.row.text, "a");
    EXPECT_EQ(made.row.generated, 1);
  }
}

TEST_F(TextOutputTest, WithoutAStreamerTheTextIsTheSame) {
  config_.stop_strings = {"!"};
  const std::string text = feed("h\xC3\xA9 you!").row.text;
  streams_ = false;
  const Output made = feed("h\xC3\xA9 you!");
  EXPECT_EQ(made.row.text, text);
  EXPECT_EQ(text, "h\xC3\xA9 you");
  EXPECT_TRUE(made.pieces.empty());
}

}  // namespace
}  // namespace ahead
