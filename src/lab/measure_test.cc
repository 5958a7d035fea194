// Endpoints of a result.
#include "lab/measure.h"

#include <gtest/gtest.h>

namespace ahead::lab {
namespace {

const Json kResult = Json::parse(R"({
  "time_s": {"compile": 2.0, "first": 0.5, "decode": 3.0},
  "tokens": {"generated": 30, "by_rung": {"1024": {"count": 10, "seconds": 1.0},
             "256": {"count": 5, "seconds": 1.0}, "2048": {"count": 0, "seconds": 0}}},
  "text": "no number", "nothing": null})");

double only(const Endpoint& endpoint) {
  const auto values = measure(endpoint, kResult);
  EXPECT_EQ(values.size(), 1U);
  return values.empty() ? -1 : values.front().value;
}

TEST(Measure, SumsLessPerAndScale) {
  EXPECT_DOUBLE_EQ(only({.value = {"/time_s/compile", "/time_s/first"}}), 2.5);
  EXPECT_DOUBLE_EQ(only({.value = {"/time_s/compile"}, .less = {"/time_s/first"}}), 1.5);
  EXPECT_DOUBLE_EQ(only({.value = {"/time_s/decode"}, .per = "/tokens/generated", .scale = 1000}),
                   100);
}

// Thirty tokens are a prompt's last one and twenty-nine steps.
TEST(Measure, AStepIsOfTheTokensBehindTheFirst) {
  EXPECT_DOUBLE_EQ(
      only({.value = {"/time_s/decode"}, .per = "/tokens/generated", .per_less = 1, .scale = 29}),
      3);
}

TEST(Measure, WhatIsSubtractedNeedNotBeThere) {
  EXPECT_DOUBLE_EQ(only({.value = {"/time_s/compile"}, .less = {"/time_s/gone"}}), 2);
}

TEST(Measure, AStarMeansAValueForEachKeyInOrder) {
  const auto values = measure(
      {.value = {"/tokens/by_rung/*/seconds"}, .per = "/tokens/by_rung/*/count", .scale = 1000},
      kResult);
  ASSERT_EQ(values.size(), 2U) << "of no tokens there is no time a token";
  EXPECT_EQ(values[0].key, "256");
  EXPECT_DOUBLE_EQ(values[0].value, 200);
  EXPECT_EQ(values[1].key, "1024");
  EXPECT_DOUBLE_EQ(values[1].value, 100);
}

TEST(Measure, WhatIsNotThereIsNoValue) {
  for (const char* pointer :
       {"/gone", "/text", "/nothing", "/time_s", "/gone/*/x", "no pointer", "/tokens/by_rung/~9"}) {
    EXPECT_TRUE(measure({.value = {pointer}}, kResult).empty()) << pointer;
  }
}

}  // namespace
}  // namespace ahead::lab
