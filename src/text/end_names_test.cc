// Ends that a vocabulary has and its file does not name.
#include "text/end_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ahead::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::int32_t> ends_of(const std::map<std::string, std::int32_t, std::less<>>& tokens) {
  return named_end_tokens([&](std::string_view name) -> std::optional<std::int32_t> {
    const auto found = tokens.find(name);
    return found == tokens.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(EndNames, AreFoundInAnyFamily) {
  EXPECT_THAT(ends_of({{"<|im_start|>", 1}, {"<|im_end|>", 2}, {"<|endoftext|>", 0}}),
              UnorderedElementsAre(0, 2));
  EXPECT_THAT(ends_of({{"<|begin_of_text|>", 7},
                       {"<|end_of_text|>", 8},
                       {"<|eot_id|>", 9},
                       {"<|eom_id|>", 10}}),
              UnorderedElementsAre(8, 9, 10));
  EXPECT_THAT(ends_of({{"<bos>", 2}, {"<eos>", 1}, {"<end_of_turn>", 106}}),
              UnorderedElementsAre(1, 106));
  EXPECT_THAT(ends_of({{"<s>", 1}, {"</s>", 2}, {"<|end|>", 5}}), UnorderedElementsAre(2, 5));
  EXPECT_THAT(ends_of({{"<｜end▁of▁sentence｜>", 4}}), ElementsAre(4));
}

TEST(EndNames, WhereAnAnswerHasSeveralMessagesTheEndOfOneIsNoEnd) {
  EXPECT_THAT(ends_of({{"<|end|>", 1}, {"<|return|>", 2}, {"<|call|>", 3}}),
              UnorderedElementsAre(2, 3));
  EXPECT_THAT(ends_of({{"<|end|>", 1}, {"<|return|>", 2}}), UnorderedElementsAre(1, 2));
}

TEST(EndNames, OtherTokensAreNoEnds) {
  EXPECT_THAT(ends_of({{"<|im_start|>", 1}, {"im_end", 2}, {"<|pad|>", 3}}), IsEmpty());
}

}  // namespace
}  // namespace ahead::text
