// Tests of how the values of options are read and refused. May use: include/ahead, CLI11,
// GoogleTest.
#include "option_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "typed_words.h"

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A command with an option of each kind.
struct Command {
  std::optional<std::int64_t> count;
  std::optional<std::uint64_t> seed;
  std::optional<float> share;
  std::vector<int> cores;
  std::string rest;

  void parse(const std::vector<std::string>& words) {
    read_words(words, [this](CLI::App& command) { add_options(command); });
  }

  void add_options(CLI::App& command) {
    help_comes_first(command);
    OptionGroup group(command);
    group.option(count, {"--count", "N", ""}, {number<std::int64_t>(1), "a whole number from 1"});
    group.option(seed, {"--seed", "N", ""}, {number<std::uint64_t>(0), "a seed"});
    group.option(share, {"--share", "X", ""}, {number(0.0F, 1000.0F), "a number from 0"});
    group.list(cores, {"--cores", "LIST", ""}, number<int>(0), "core numbers like 0,1");
    group.option(rest, {"REST", "", ""});
  }
};

Command parsed(const std::vector<std::string>& words) {
  Command command;
  command.parse(words);
  return command;
}

std::string refusal(const std::vector<std::string>& words) {
  return refusal_of([&] { (void)parsed(words); });
}

TEST(OptionValues, WholeNumbersAreDecimalAlsoWithZerosInFront) {
  EXPECT_EQ(parsed({"--count", "12"}).count, 12);
  EXPECT_EQ(parsed({"--count", "010"}).count, 10);
  EXPECT_EQ(parsed({"--count", "09"}).count, 9);
  EXPECT_EQ(parsed({"--count", "9223372036854775807"}).count, INT64_MAX);
  EXPECT_EQ(parsed({"--seed", "18446744073709551615"}).seed, UINT64_MAX);
  EXPECT_EQ(parsed({"--seed", "007"}).seed, 7U);
  EXPECT_EQ(parsed({}).count, std::nullopt);
}

TEST(OptionValues, WhatIsNoWholeNumberInRangeIsRefusedAsItWasTyped) {
  for (const char* const word : {"", " ", "0", "-1", "x", "5x", " 5", "5 ", "5\t", "+5", "00",
                                 "1e3", "1.0", "1_000", "1,2", "0x10", "0b1", "nan", "true"}) {
    EXPECT_EQ(refusal({"--count", word}),
              "--count is " + ahead::in_quotes(word) + "; it takes a whole number from 1");
  }
  EXPECT_THAT(refusal({"--count", "9223372036854775808"}), HasSubstr("'9223372036854775808'"));
  for (const char* const word : {"", "-1", "+1", " 1", "0x1", "1.5", "18446744073709551616"}) {
    EXPECT_THAT(refusal({"--seed", word}), HasSubstr("--seed is '" + std::string(word) + "'"));
  }
}

TEST(OptionValues, NumbersWithFractionsAreDecimalAndFinite) {
  EXPECT_EQ(parsed({"--share", "0"}).share, 0.0F);
  EXPECT_EQ(parsed({"--share", "0.8"}).share, 0.8F);
  EXPECT_EQ(parsed({"--share", ".5"}).share, 0.5F);
  EXPECT_EQ(parsed({"--share", "010"}).share, 10.0F);
  EXPECT_EQ(parsed({"--share", "1e2"}).share, 100.0F);
  for (const char* const word :
       {"",      " ",      "-1",   "nan",   "-nan", "NaN", "inf", "infinity", "1000.1", "1e39",
        "1e999", "1e-999", "0x10", "0x1p3", "+1",   " 1",  "1 ",  "1f",       "0,5",    "."}) {
    EXPECT_EQ(refusal({"--share", word}),
              "--share is " + ahead::in_quotes(word) + "; it takes a number from 0");
  }
}

TEST(OptionValues, AListIsReadItemByItemAndRefusedAsAWhole) {
  EXPECT_THAT(parsed({"--cores", "3"}).cores, ElementsAre(3));
  EXPECT_THAT(parsed({"--cores", "0,010,2147483647"}).cores, ElementsAre(0, 10, 2147483647));
  for (const char* const word : {"", ",", "0,", ",0", "0,,1", "0, 1", "0;1", "0-3", "[0,1]", "-1",
                                 "0,x", "0x1", "2147483648", "1.0"}) {
    EXPECT_EQ(refusal({"--cores", word}),
              "--cores is '" + std::string(word) + "'; it takes core numbers like 0,1");
  }
}

TEST(OptionValues, AListTakesOneWord) {
  const Command command = parsed({"--cores", "0,1", "2"});
  EXPECT_THAT(command.cores, ElementsAre(0, 1));
  EXPECT_EQ(command.rest, "2");
  EXPECT_THROW((void)parsed({"--cores", "0", "--cores", "1"}), CLI::ArgumentMismatch);
}

TEST(OptionValues, ARefusalIsOneShortPrintableLineWhateverWasTyped) {
  for (const std::string& word : {std::string("a\nb\x1b[2J"), std::string(100'000, '9')}) {
    for (const char* const option : {"--count", "--share", "--cores"}) {
      const std::string what = refusal({option, word});
      EXPECT_THAT(what, AllOf(HasSubstr(option), HasSubstr("it takes"), Not(HasSubstr("\n")),
                              Not(HasSubstr("\x1b"))));
      EXPECT_LT(what.size(), 200U);
    }
  }
}

TEST(OptionValues, HelpComesBeforeAValueThatCanNotBe) {
  EXPECT_THROW((void)parsed({"--count", "x", "--help"}), CLI::CallForHelp);
  EXPECT_THROW((void)parsed({"-h", "--cores", "x"}), CLI::CallForHelp);
}

}  // namespace
}  // namespace ahead::cli
