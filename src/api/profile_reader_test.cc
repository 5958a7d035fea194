// Tests of reading a profile: what is wrong is named. May use: include/ahead, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ahead/error.h"
#include "ahead/planning.h"

namespace ahead {
namespace {

using ::testing::HasSubstr;

const std::string kProfile = R"({
  "profile": 1, "name": "small", "notes": ["by hand"], "about": {"machine": "none"},
  "request": {"ladder": [1024, 2048], "prompt": 100, "tokens": 1500, "chunks": [64]},
  "call": {"seconds": 0.001, "source": "estimated"},
  "beside": {"compile": {"factor": 1.5, "source": "inferred"}},
  "migration_s": {"copy-grow": {"source": "measured", "2048": 0.25}},
  "partitions": [{"partition": "whole", "steps": [
    {"tokens": 1, "calls": 2, "rung_compile_s": {"source": "measured", "note": "n", "1024": 3},
     "step_s": {"source": "measured", "1024": 0.02,
                "2048": {"seconds": 0.04, "source": "estimated"}}},
    {"tokens": 64, "calls": 1, "rung_compile_s": {"source": "measured", "1024": 4},
     "shared_compile_s": {"seconds": 1, "source": "published"},
     "step_s": {"source": "measured", "1024": 0.5}}]}]
})";

TEST(ReadProfile, ReadsEveryField) {
  const Profile profile = read_profile(kProfile);
  EXPECT_EQ(profile.name, "small");
  EXPECT_EQ(profile.notes, std::vector<std::string>{"by hand"});
  EXPECT_EQ(profile.about.at("machine"), "none");
  EXPECT_EQ(profile.ladder, (std::vector<std::int64_t>{1024, 2048}));
  EXPECT_EQ(profile.chunks, std::vector<std::int64_t>{64});
  EXPECT_EQ(profile.prompt, 100);
  EXPECT_EQ(profile.tokens, 1500);
  EXPECT_EQ(profile.call.seconds, 0.001);
  EXPECT_EQ(profile.compile_factor, 1.5);
  EXPECT_EQ(profile.step_factor, 1);
  EXPECT_EQ(profile.migration.at(KvPolicy::kCopyGrow).at(2048).seconds, 0.25);
  ASSERT_EQ(profile.partitions.size(), 1U);
  const std::vector<StepProfile>& steps = profile.partitions[0].steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].calls, 2);
  EXPECT_EQ(steps[0].rung_compile.at(1024).source, CostSource::kMeasured);
  EXPECT_EQ(steps[0].step.at(2048).seconds, 0.04);
  EXPECT_EQ(steps[0].step.at(2048).source, CostSource::kEstimated);
  EXPECT_EQ(steps[1].tokens, 64);
  EXPECT_EQ(steps[1].shared_compile.source, CostSource::kPublished);
}

struct Damage {
  std::string name;
  std::string from;
  std::string to;
  std::string field;  ///< named by the error
  std::string value;  ///< likewise
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class DamagedProfile : public testing::TestWithParam<Damage> {};

TEST_P(DamagedProfile, IsRefusedByItsField) {
  const Damage& damage = GetParam();
  std::string text = kProfile;
  const std::size_t at = text.find(damage.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, damage.from.size(), damage.to);
  try {
    (void)read_profile(text);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("'" + damage.field + "'"));
    EXPECT_THAT(error.what(), HasSubstr(damage.value));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fields, DamagedProfile,
    testing::Values(
        Damage{"NegativeSeconds", R"("1024": 0.02)", R"("1024": -1)",
               "partitions[0].steps[0].step_s.1024", "-1"},
        Damage{"NoSeconds", R"("1024": 0.02)", R"("1024": 0)", "partitions[0].steps[0].step_s.1024",
               "above 0"},
        Damage{"TooManySeconds", R"("1024": 3)", R"("1024": 1e300)",
               "partitions[0].steps[0].rung_compile_s.1024", "million"},
        Damage{"TextForSeconds", R"("1024": 3)", R"("1024": "3")",
               "partitions[0].steps[0].rung_compile_s.1024", "object"},
        Damage{"ListForTheLadder", "[1024, 2048]", "1024", "request.ladder", "a list"},
        Damage{"FallingLadder", "[1024, 2048]", "[2048, 1024]", "request.ladder", "1024 after"},
        Damage{"HugeRung", "[1024, 2048]", "[1024, 99999999999999]", "request.ladder[1]",
               "99999999999999"},
        Damage{"HugePrompt", R"("prompt": 100)", R"("prompt": 18446744073709551615)",
               "request.prompt", "18446744073709551615"},
        Damage{"PartOfAToken", R"("prompt": 100)", R"("prompt": 1.5)", "request.prompt",
               "whole number"},
        Damage{"UnknownFieldOfAStep", R"("calls": 2)", R"("calls": 2, "call": 3)",
               "partitions[0].steps[0]", "'call'"},
        Damage{"UnknownFieldOfTheRequest", R"("prompt": 100)", R"("prompt": 100, "promt": 1)",
               "request", "'promt'"},
        Damage{"NoStep", R"("step_s": {"source": "measured", "1024": 0.5})", R"("calls": 1)",
               "partitions[0].steps[1]", "'step_s'"},
        Damage{"UnknownSource", R"("source": "published")", R"("source": "rumoured")",
               "partitions[0].steps[1].shared_compile_s.source", "rumoured"},
        Damage{"NoSource", R"({"source": "measured", "2048": 0.25})", R"({"2048": 0.25})",
               "migration_s.copy-grow", "'source'"},
        Damage{"UnknownPolicy", "copy-grow", "copy-shrink", "migration_s.copy-shrink",
               "shared-max"},
        Damage{"UnknownPartition", R"("whole")", R"("halves")", "partitions[0].partition",
               "halves"},
        Damage{"NameThatIsNoRung", R"("2048": 0.25)", R"("2k": 0.25)", "migration_s.copy-grow.2k",
               "no rung"},
        Damage{"FactorBelowOne", R"("factor": 1.5)", R"("factor": 0.5)", "beside.compile.factor",
               "0.5"},
        Damage{"NoDecodeStep", R"("tokens": 1,)", R"("tokens": 2,)",
               "partitions[0].steps[0].tokens", "the first has 1"},
        Damage{"AnotherVersion", R"("profile": 1)", R"("profile": 2)", "profile", "from 1 to 1"}),
    [](const auto& damage) { return damage.param.name; });

TEST(ReadProfile, EveryTruncationIsRefused) {
  for (std::size_t length = 0; length + 1 < kProfile.size(); ++length) {
    EXPECT_THROW((void)read_profile(kProfile.substr(0, length)), Error) << length;
  }
}

TEST(ReadProfile, WhatIsNoJsonIsRefusedWithItsPlace) {
  try {
    (void)read_profile("{\"profile\": 1,\n \"name\": }");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2"));
  }
  EXPECT_THROW((void)read_profile("[1]"), Error);
  EXPECT_THROW((void)read_profile("{\"profile\": 1e999}"), Error);
  EXPECT_THROW((void)read_profile(std::string(100000, '[')), Error);
}

}  // namespace
}  // namespace ahead
