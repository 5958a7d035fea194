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

}  // namespace
}  // namespace ahead
