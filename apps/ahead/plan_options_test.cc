// Tests of the options of `ahead plan`. May use: include/ahead, GoogleTest.
#include "plan_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string refusal(const PlanFlags& flags) {
  try {
    (void)read_plan_flags(flags);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(PlanOptions, WhatIsNotGivenIsLeftToTheProfile) {
  const PlanRequest request = read_plan_flags({.profile = "p.json"});
  EXPECT_TRUE(request.ladder.empty() && request.chunks.empty() && request.token_s.empty());
  EXPECT_FALSE(request.prompt || request.tokens || request.schedule || request.partition);
}

TEST(PlanOptions, ReadsEachOption) {
  const PlanRequest request = read_plan_flags({.profile = "p.json",
                                               .ladder = "64,128",
                                               .prompt = "3",
                                               .tokens = "4",
                                               .token_ms = "1024=25,8192=50",
                                               .compile_s = "2.5",
                                               .schedule = "planned",
                                               .kv = "in-place",
                                               .partition = "blocks:2",
                                               .chunks = "32,128"});
  EXPECT_THAT(request.ladder, ElementsAre(64, 128));
  EXPECT_EQ(request.prompt, 3);
  EXPECT_EQ(request.tokens, 4);
  EXPECT_THAT(request.token_s, ElementsAre(Pair(1024, 0.025), Pair(8192, 0.05)));
  EXPECT_THAT(request.compile_s, ElementsAre(Pair(0, 2.5)));
  EXPECT_EQ(request.schedule, Schedule::kPlanned);
  EXPECT_EQ(request.kv, KvPolicy::kInPlace);
  EXPECT_EQ(request.partition, Partition::blocks(2));
  EXPECT_THAT(request.chunks, ElementsAre(32, 128));
}

TEST(PlanOptions, TakesAModelOrAProfileAndNotBoth) {
  EXPECT_THAT(refusal({}), HasSubstr("--profile FILE"));
  EXPECT_THAT(refusal({.model = "m", .profile = "p"}), HasSubstr("one of them"));
}

TEST(PlanOptions, ValuesThatCannotBeAreNamed) {
  for (const char* const value : {"0", "-1", "1.5", "x", "", "99999999999"}) {
    EXPECT_THAT(refusal({.model = "m", .prompt = value}), HasSubstr("--prompt")) << value;
    EXPECT_THAT(refusal({.model = "m", .tokens = value}), HasSubstr("--tokens")) << value;
    EXPECT_THAT(refusal({.model = "m", .chunks = value}), HasSubstr("--chunks")) << value;
  }
  for (const char* const value :
       {"0", "-1", "x", "", "nan", "inf", "1e300", "1024=", "=5", "x=5", "1024=5,1024=6", "5,6"}) {
    EXPECT_THAT(refusal({.model = "m", .token_ms = value}), HasSubstr("--token-ms")) << value;
    EXPECT_THAT(refusal({.model = "m", .compile_s = value}), HasSubstr("--compile-s")) << value;
  }
}

}  // namespace
}  // namespace ahead::cli
