// Requests that cannot be, and prompts of a batch sorted into those that run and those that do not.
// May use: include, GoogleTest.
#include "api/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "ahead/error.h"

namespace ahead {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Prompts = std::vector<std::vector<std::int32_t>>;

/// What is said of a request that is refused; nothing of one that is not.
std::optional<std::string> refusal(const std::vector<std::int32_t>& prompt,
                                   const GenerationConfig& config = {}) {
  try {
    check_request({.prompt_ids = prompt, .config = config, .last_rung = 4, .vocabulary = 100});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return std::nullopt;
}

void check_length(const std::vector<std::int32_t>& prompt) {
  check_request({.prompt_ids = prompt, .config = {}, .last_rung = 4, .vocabulary = 100});
}

TEST(RequestCheckTest, WhatFitsIsNotRefused) {
  EXPECT_EQ(refusal({0}), std::nullopt);
  EXPECT_EQ(refusal({99, 1, 2, 3}, {.max_new_tokens = 1, .forced_token_ids = {0, 99}}),
            std::nullopt);
}

TEST(RequestCheckTest, WhatCannotBeIsRefusedWithTheValue) {
  EXPECT_THAT(refusal({}).value_or(""), HasSubstr("no tokens"));
  EXPECT_THAT(refusal({1, 2, 3, 4, 5}).value_or(""), AllOf(HasSubstr("5 tokens"), HasSubstr("4")));
  for (const std::int64_t count : {0, -1}) {
    EXPECT_THAT(refusal({1}, {.max_new_tokens = count}).value_or(""),
                HasSubstr("max_new_tokens is " + std::to_string(count)));
  }
  for (const std::int32_t id : {100, -1}) {
    const std::string said = "token id " + std::to_string(id) + " ";
    EXPECT_THAT(refusal({1, id}).value_or(""), AllOf(HasSubstr(said), HasSubstr("prompt")));
    EXPECT_THAT(refusal({1}, {.forced_token_ids = {id}}).value_or(""),
                AllOf(HasSubstr(said), HasSubstr("forced"), HasSubstr("100")));
  }
}

TEST(SortPromptsTest, OnesThatCannotRunSayWhyAndTheOthersKeepTheirPlaces) {
  const SortedPrompts sorted =
      sort_prompts(Prompts{{1}, {}, {2, 3}, {1, 2, 3, 4, 5}, {6}}, 8, check_length);
  EXPECT_EQ(sorted.prompts, (Prompts{{1}, {2, 3}, {6}}));
  EXPECT_THAT(sorted.places, ElementsAre(0, 2, 4));
  ASSERT_EQ(sorted.refused.size(), 5U);
  for (const std::size_t place : {0, 2, 4}) EXPECT_EQ(sorted.refused[place].error, "") << place;
  EXPECT_THAT(sorted.refused[1].error, HasSubstr("no tokens"));
  EXPECT_THAT(sorted.refused[3].error, HasSubstr("5 tokens"));
  EXPECT_EQ(sorted.refused[3].finish_reason, FinishReason::kError);
  EXPECT_EQ(sorted.refused[3].prompt, 5);
}

TEST(SortPromptsTest, MoreThanABatchHoldsAreRefusedAndThoseThatCannotRunDoNotCount) {
  const SortedPrompts sorted = sort_prompts(Prompts{{}, {1}, {2}, {3}, {4}}, 2, check_length);
  EXPECT_THAT(sorted.places, ElementsAre(1, 2));
  EXPECT_THAT(sorted.refused[0].error, HasSubstr("no tokens"));
  for (const std::size_t place : {3, 4}) {
    EXPECT_THAT(sorted.refused[place].error, HasSubstr("2 rows at most"));
  }
}

TEST(SortPromptsTest, ABatchInWhichNothingRunsIsRefusedWithTheFirstReason) {
  const auto said = [](const Prompts& prompts) -> std::string {
    try {
      (void)sort_prompts(prompts, 8, check_length);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(said({}), HasSubstr("no prompt"));
  EXPECT_THAT(said({{1, 2, 3, 4, 5}, {}}),
              AllOf(HasSubstr("no prompt of the batch can run"), HasSubstr("5 tokens")));
}

}  // namespace
}  // namespace ahead
