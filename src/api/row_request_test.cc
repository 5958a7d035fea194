// The next token of a sequence: forced, or chosen by a sampler of its own. May use: include, text,
// GoogleTest.
#include "api/row_request.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "api/fake_tokenizer.h"

namespace ahead {
namespace {

const FakeTokenizer kTokenizer;
const std::vector<std::int32_t> kPrompt = {1, 2};

/// Logits of a vocabulary of eight, all alike but for one.
std::vector<float> best(std::size_t id) {
  std::vector<float> logits(8, 1.0F);
  logits.at(id) = 2.0F;
  return logits;
}

std::vector<std::int32_t> sampled(const GenerationConfig& config, std::size_t count) {
  RowRequest row(kPrompt, kTokenizer, config, {});
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(row.choose(std::vector<float>(8, 1.0F)));
  return ids;
}

TEST(RowRequestTest, GreedyTakesTheLikeliest) {
  const GenerationConfig config;
  RowRequest row(kPrompt, kTokenizer, config, {});
  EXPECT_EQ(row.choose(best(5)), 5);
  EXPECT_EQ(row.choose(best(3)), 3);
}

TEST(RowRequestTest, ForcedTokensComeInOrderWhateverTheLogitsSay) {
  const GenerationConfig config{.forced_token_ids = {7, 0, 7}};
  RowRequest row(kPrompt, kTokenizer, config, {});
  for (const std::int32_t forced : {7, 0, 7}) EXPECT_EQ(row.choose(best(4)), forced);
  EXPECT_EQ(most_tokens(config), 3);
  EXPECT_EQ(most_tokens({.max_new_tokens = 2, .forced_token_ids = {7, 0, 7}}), 2);
  EXPECT_EQ(most_tokens({}), std::numeric_limits<std::int64_t>::max());
}

TEST(RowRequestTest, EverySequenceSamplesFromTheSeedAsItWouldAlone) {
  GenerationConfig config{.do_sample = true, .rng_seed = 11};
  const auto first = sampled(config, 40);
  EXPECT_EQ(sampled(config, 40), first);
  config.rng_seed = 12;
  EXPECT_NE(sampled(config, 40), first);
}

TEST(RowRequestTest, ThePromptCountsForTheRepetitionPenalty) {
  const GenerationConfig config{.repetition_penalty = 4.0F};
  RowRequest row(kPrompt, kTokenizer, config, {});
  EXPECT_NE(row.choose(best(1)), 1) << "it stands in the prompt";
  EXPECT_EQ(row.choose(best(6)), 6);
  EXPECT_NE(row.choose(best(6)), 6) << "it was chosen";
}

TEST(RowRequestTest, OptionsThatCannotBeAreRefused) {
  for (const GenerationConfig& config :
       {GenerationConfig{.temperature = 0}, GenerationConfig{.top_p = 2},
        GenerationConfig{.repetition_penalty = 0}, GenerationConfig{.stop_strings = {""}}}) {
    EXPECT_THROW(RowRequest(kPrompt, kTokenizer, config, {}), Error);
  }
}

TEST(RowRequestTest, TextAndIdsComeToTheRow) {
  const GenerationConfig config;
  std::string streamed;
  RowRequest row(kPrompt, kTokenizer, config, [&](std::string_view text) {
    streamed += text;
    return StreamingStatus::kRunning;
  });
  EXPECT_FALSE(row.accept('o'));
  EXPECT_FALSE(row.accept('k'));
  EXPECT_EQ(row.accept(FakeTokenizer::kEnd), FinishReason::kStop);
  RowResult result;
  row.finish(result);
  EXPECT_EQ(result.text, "ok");
  EXPECT_EQ(streamed, "ok");
  EXPECT_EQ(result.generated, 3);
}

}  // namespace
}  // namespace ahead
