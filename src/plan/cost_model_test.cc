// What is known, what is scaled, and what is guessed. May use: base, GoogleTest.
#include "plan/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace ahead::plan {
namespace {

CompileKey attention(std::int64_t rung) {
  return {.form = "attention", .parts = "attention", .shape = {.rung = rung}};
}
StepKey decode(std::int64_t rung, std::string form = "attention") {
  return {.form = std::move(form), .shape = {.rung = rung}};
}

constexpr GraphSize kSmall{.operations = 5};
constexpr GraphSize kLarge{.parts = 31, .operations = 2000, .weight_bytes = 100'000'000};

TEST(CostModelTest, WhatWasMeasuredIsKnown) {
  CostModel costs;
  for (const double seconds : {0.05, 0.06, 0.04}) costs.compiled(attention(1024), kSmall, seconds);
  const Estimate known = costs.compile(attention(1024), kSmall);
  EXPECT_DOUBLE_EQ(known.typical_s, 0.05);
  EXPECT_EQ(known.source, Source::kMeasured);
}

TEST(CostModelTest, OneOutlierMovesNothing) {
  CostModel costs;
  for (const double seconds : {0.05, 0.06, 0.04, 9.0, 0.05}) {
    costs.compiled(attention(1024), kSmall, seconds);
  }
  EXPECT_LT(costs.compile(attention(1024), kSmall).late_s, 0.1);
}

TEST(CostModelTest, ThePastFades) {
  CostModel costs;
  for (std::size_t i = 0; i < History::kSamples; ++i) costs.stepped(decode(1024), 1);
  for (std::size_t i = 0; i < History::kSamples; ++i) costs.stepped(decode(1024), 0.02);
  EXPECT_DOUBLE_EQ(costs.step(decode(1024), {}).late_s, 0.025);
}

TEST(CostModelTest, AnotherRungsCompileIsScaledFromTheNearest) {
  CostModel costs;
  costs.compiled(attention(1024), kSmall, 1);
  costs.compiled(attention(4096), kSmall, 0.1);
  const Estimate scaled = costs.compile(attention(8192), kSmall);
  EXPECT_EQ(scaled.source, Source::kScaled);
  EXPECT_GT(scaled.typical_s, 0.1);
  EXPECT_LT(scaled.typical_s, 0.2);
  EXPECT_LT(costs.compile(attention(2048), kSmall).typical_s, 2);
  EXPECT_GT(costs.compile(attention(2048), kSmall).typical_s, 1);
}

TEST(CostModelTest, AnotherRungsStepIsScaledByWhatItReads) {
  CostModel costs;
  costs.stepped(decode(1000), 0.03);
  const StepSize size{.weight_bytes = 100, .cache_bytes = 200};  // at rung 2000
  EXPECT_DOUBLE_EQ(costs.step(decode(2000), size).typical_s, 0.03 * 300 / 200);
  EXPECT_DOUBLE_EQ(costs.step(decode(2000), {}).typical_s, 0.03);  // no size: the same
}

TEST(CostModelTest, OtherFormsPartsBatchesAndChunksAreOtherThings) {
  CostModel costs;
  costs.stepped(decode(1024), 7);
  costs.compiled(attention(1024), kSmall, 7);
  StepKey batch = decode(1024);
  batch.shape.batch = 2;
  StepKey chunk = decode(1024);
  chunk.shape.tokens = 32;
  for (const StepKey& other : {decode(1024, "whole"), batch, chunk}) {
    EXPECT_EQ(costs.step(other, {}).source, Source::kGuess);
  }
  CompileKey body = attention(1024);
  body.parts = "attention+body";
  EXPECT_NE(costs.compile(body, kLarge).source, Source::kMeasured);
}

TEST(CostModelTest, WhatLacksNothingTakesNothing) {
  CompileKey all_there = attention(1024);
  all_there.parts.clear();
  EXPECT_EQ(CostModel().compile(all_there, kSmall),
            (Estimate{.typical_s = 0, .late_s = 0, .source = Source::kMeasured}));
}

TEST(CostModelTest, AGuessIsPutRightByWhatOthersTook) {
  CostModel costs;
  CompileKey body = attention(1024);
  body.parts = "attention+body";
  const Estimate blind = costs.compile(body, kLarge);
  EXPECT_EQ(blind.source, Source::kGuess);
  const double times = 10;
  costs.compiled(attention(1024), kSmall, times * guess_compile(kSmall).typical_s);
  const Estimate seeing = costs.compile(body, kLarge);
  EXPECT_EQ(seeing.source, Source::kScaled);
  EXPECT_NEAR(seeing.typical_s, times * blind.typical_s, 1e-9);
  EXPECT_GT(seeing.late_s, seeing.typical_s);
}

TEST(CostModelTest, ImplausibleSamplesAreDropped) {
  CostModel costs;
  for (const double seconds : {0.0, -1.0, 1e9, std::nan("")}) {
    costs.stepped(decode(1024), seconds);
    costs.compiled(attention(1024), kSmall, seconds);
  }
  EXPECT_EQ(costs.history(), History{});
  EXPECT_EQ(costs.compile(attention(1024), kSmall).source, Source::kGuess);
}

TEST(CostModelTest, AFullTableTakesNoNewNames) {
  CostModel costs;
  for (std::size_t i = 1; i <= History::kEntries + 5; ++i) {
    costs.stepped(decode(static_cast<std::int64_t>(i)), 1);
  }
  EXPECT_EQ(costs.history().steps_s.size(), History::kEntries);
}

TEST(CostModelTest, BeginsWithAHistory) {
  History history;
  history.steps_s[{"attention", 1, 1, 1024}] = {0.02, 0.02, 0.02};
  EXPECT_DOUBLE_EQ(CostModel(history).step(decode(1024), {}).typical_s, 0.02);
}

}  // namespace
}  // namespace ahead::plan
