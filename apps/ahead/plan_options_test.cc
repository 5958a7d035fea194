// Tests of the options of `ahead plan`. May use: include/ahead, GoogleTest.
#include "plan_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "typed_words.h"

namespace ahead::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

PlanFlags parsed(const std::vector<std::string>& words) {
  PlanFlags out;
  read_words(words, [&](CLI::App& command) {
    add_plan_options(command, [&](const PlanFlags& flags) { out = flags; });
  });
  return out;
}

std::string refusal(const std::vector<std::string>& words) {
  return refusal_of([&] { (void)parsed(words); });
}

TEST(PlanOptions, WhatIsNotGivenIsLeftToTheProfile) {
  const PlanFlags flags = parsed({"--profile", "p.json"});
  const PlanRequest& request = flags.request;
  EXPECT_EQ(flags.profile, "p.json");
  EXPECT_TRUE(request.ladder.empty() && request.chunks.empty() && request.token_s.empty());
  EXPECT_FALSE(request.prompt || request.tokens || request.schedule || request.partition);
}

TEST(PlanOptions, ReadsEachOption) {
  const PlanFlags flags = parsed({"m.gguf",      "--ladder",   "64,128",
                                  "--prompt",    "3",          "--tokens",
                                  "4",           "--token-ms", "1024=25,8192=50",
                                  "--compile-s", "2.5",        "--schedule",
                                  "planned",     "--kv",       "in-place",
                                  "--partition", "blocks:2",   "--chunks",
                                  "32,128",      "--json",     "a",
                                  "--trace",     "b"});
  const PlanRequest& request = flags.request;
  EXPECT_EQ(flags.model, "m.gguf");
  EXPECT_THAT(request.ladder, ElementsAre(64, 128));
  EXPECT_EQ(request.prompt, 3);
  EXPECT_EQ(request.tokens, 4);
  EXPECT_THAT(request.token_s, ElementsAre(Pair(1024, 0.025), Pair(8192, 0.05)));
  EXPECT_THAT(request.compile_s, ElementsAre(Pair(0, 2.5)));
  EXPECT_EQ(request.schedule, Schedule::kPlanned);
  EXPECT_EQ(request.kv, KvPolicy::kInPlace);
  EXPECT_EQ(request.partition, Partition::blocks(2));
  EXPECT_THAT(request.chunks, ElementsAre(32, 128));
  EXPECT_EQ(flags.json, "a");
  EXPECT_EQ(flags.trace, "b");
}

TEST(PlanOptions, TakesAModelOrAProfileAndNotBoth) {
  EXPECT_THAT(refusal({}), HasSubstr("--profile FILE"));
  EXPECT_THAT(refusal({"m", "--profile", "p"}), HasSubstr("one of them"));
}

TEST(PlanOptions, ValuesThatCannotBeAreNamed) {
  for (const std::string value : {"0", "-1", "1.5", "x", "", "0x10", "99999999999"}) {
    for (const std::string option : {"--prompt", "--tokens", "--chunks"}) {
      EXPECT_THAT(refusal({"m", option, value}), HasSubstr(option + " is '" + value + "'"));
    }
  }
  for (const std::string value : {"0",     "-1",    "x",  "",        "nan",      "inf", "1e300",
                                  "0x10",  " 5",    "8=", "=5",      "x=5",      "0=5", "-1=5",
                                  "8=nan", "8=5=6", "5,", "8=5,8=6", "8=5,08=6", "5,6"}) {
    for (const std::string option : {"--token-ms", "--compile-s"}) {
      EXPECT_THAT(refusal({"m", option, value}), HasSubstr(option + " is '" + value + "'"));
    }
  }
}

}  // namespace
}  // namespace ahead::cli
