// Tests of reading and checking ladders. May use: include/ahead, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/error.h"

namespace ahead {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Ladder, RungsAreReadInOrder) {
  EXPECT_THAT(parse_ladder("1024,2048,4096"), ElementsAre(1024, 2048, 4096));
  EXPECT_THAT(parse_ladder("16"), ElementsAre(16));
}

struct BadLadder {
  std::string name;
  std::string text;
  std::string named;  // what the error must contain
};

class BadLadders : public ::testing::TestWithParam<BadLadder> {};

TEST_P(BadLadders, AreRefusedInOneLineNamingTheValue) {
  try {
    (void)parse_ladder(GetParam().text);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("ladder"), HasSubstr(GetParam().named), Not(HasSubstr("\n"))));
    EXPECT_LT(std::string(error.what()).size(), 300U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadLadders,
    ::testing::Values(
        BadLadder{"Empty", "", "is empty"}, BadLadder{"Blank", " ", "' '"},
        BadLadder{"SpaceAfterComma", "64, 128", "' 128'"}, BadLadder{"OnlyComma", ",", "''"},
        BadLadder{"TrailingComma", "64,128,", "''"}, BadLadder{"Falling", "128,64", "64 after 128"},
        BadLadder{"Repeated", "64,64", "64 after 64"}, BadLadder{"Zero", "0,64", "rung 0"},
        BadLadder{"Negative", "-64", "rung -64"}, BadLadder{"TooSmall", "15,64", "rung 15"},
        BadLadder{"Huge", "99999999999999999999", "too large"},
        BadLadder{"Word", "64,many", "'many'"}, BadLadder{"Suffix", "1k,2k", "'1k'"},
        BadLadder{"Fraction", "64.5", "'64.5'"}, BadLadder{"Semicolons", "64;128", "'64;128'"},
        BadLadder{"Plus", "+64", "'+64'"}, BadLadder{"Newline", "64\n", "'64 '"},
        BadLadder{"Endless", std::string(10'000, '7'), "too large"}),
    [](const auto& bad) { return bad.param.name; });

std::string refusal(const std::vector<std::int64_t>& ladder, std::int64_t trained) {
  try {
    check_ladder(ladder, trained);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(Ladder, MayEndAtTheTrainedContextAndNotBeyond) {
  EXPECT_EQ(refusal({1024, 8192}, 8192), "accepted");
  EXPECT_THAT(refusal({1024, 8193}, 8192), AllOf(HasSubstr("8193"), HasSubstr("below 8192")));
  EXPECT_THAT(refusal({std::numeric_limits<std::int64_t>::max()}, 8192),
              HasSubstr("trained context"));
}

TEST(Ladder, AModelThatDoesNotSayItsTrainedContextLimitsNothing) {
  EXPECT_EQ(refusal({1024, 1'000'000}, 0), "accepted");
  EXPECT_EQ(refusal({16}, 0), "accepted");
  EXPECT_THAT(refusal({64, 64}, 0), HasSubstr("64 after 64"));
}

TEST(Ladder, IsCheckedLikeAParsedOne) {
  EXPECT_THAT(refusal({}, 8192), HasSubstr("empty"));
  EXPECT_THAT(refusal({15}, 8192), HasSubstr("15"));
  EXPECT_THAT(refusal({64, 64}, 8192), HasSubstr("64 after 64"));
  EXPECT_THAT(refusal({128, 64}, 8192), HasSubstr("64 after 128"));
}

std::vector<std::int64_t> doubling(std::int64_t last) {
  std::vector<std::int64_t> rungs;
  for (std::int64_t rung = 1024; rung <= last; rung *= 2) rungs.push_back(rung);
  return rungs;
}

TEST(DefaultLadder, DoublesToTheTrainedContextBecauseTheTopCostsNothing) {
  for (const std::int64_t trained : {1024, 8192, 32768, 131072}) {
    const DefaultLadder ladder = default_ladder({.trained_context = trained});
    EXPECT_EQ(ladder.rungs, doubling(trained));
    EXPECT_EQ(ladder.note, "");
  }
  EXPECT_EQ(
      default_ladder(
          {.trained_context = 32768, .schedule = Schedule::kOneAhead, .kv = KvPolicy::kCopyGrow})
          .rungs,
      doubling(32768));
}

TEST(DefaultLadder, EndsInAWholeBlockWhereTheContextIsNoDoubling) {
  using testing::ElementsAre;
  EXPECT_THAT(default_ladder({.trained_context = 2047}).rungs, ElementsAre(1024, 1920));
  EXPECT_THAT(default_ladder({.trained_context = 1100}).rungs, ElementsAre(1024));
  std::vector<std::int64_t> rungs = doubling(32768);
  rungs.push_back(40960);
  EXPECT_EQ(default_ladder({.trained_context = 40960}).rungs, rungs);
  EXPECT_THAT(default_ladder({.trained_context = 500}).rungs, ElementsAre(496));
  EXPECT_THAT(default_ladder({.trained_context = 16}).rungs, ElementsAre(16));
}

TEST(DefaultLadder, StaysAtEightThousandWhereTheTopIsPaidForAndSaysSo) {
  const DefaultLadder eager =
      default_ladder({.trained_context = 32768, .schedule = Schedule::kEager});
  EXPECT_EQ(eager.rungs, doubling(8192));
  EXPECT_THAT(eager.note, AllOf(HasSubstr("8192"), HasSubstr("32768"), HasSubstr("eager"),
                                HasSubstr("--ladder")));
  const DefaultLadder shared =
      default_ladder({.trained_context = 32768, .kv = KvPolicy::kSharedMax});
  EXPECT_EQ(shared.rungs, doubling(8192));
  EXPECT_THAT(shared.note, HasSubstr("shared-max"));
  // What is within it needs no word.
  EXPECT_EQ(default_ladder({.trained_context = 4096, .schedule = Schedule::kEager}).note, "");
}

TEST(DefaultLadder, OfAModelThatDoesNotSayItsContextIsTheUsualOne) {
  EXPECT_EQ(default_ladder({}).rungs, doubling(8192));
  EXPECT_EQ(default_ladder({}).note, "");
}

TEST(DefaultLadder, AContextBelowEveryRungIsRefusedByItsNumber) {
  try {
    (void)default_ladder({.trained_context = 8});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupportedModel);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(" 8 tokens"), HasSubstr("16")));
  }
}

TEST(DefaultLadder, NoContextHoweverLargeOverflows) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const DefaultLadder ladder = default_ladder({.trained_context = huge});
  EXPECT_GT(ladder.rungs.back(), huge / 2);
  EXPECT_NO_THROW(check_ladder(ladder.rungs, huge));
}

}  // namespace
}  // namespace ahead
