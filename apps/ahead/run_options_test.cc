// Tests of the options of `ahead run`. May use: include/ahead, GoogleTest.
#include "run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ahead/error.h"
#include "typed_words.h"

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunRequest request(const std::vector<std::string>& words = {}) {
  RunRequest out;
  std::vector<std::string> all = {"m.gguf", "hi"};
  all.insert(all.end(), words.begin(), words.end());
  read_words(all, [&](CLI::App& command) {
    add_run_options(command, {}, [&](const RunRequest& asked) { out = asked; });
  });
  return out;
}

std::string refusal(const std::vector<std::string>& words) {
  return refusal_of([&] { (void)request(words); });
}

TEST(RunOptions, TheDefaultsAreTheApisDefaults) {
  const RunRequest plain = request();
  EXPECT_EQ(plain.device, "CPU");
  EXPECT_EQ(plain.design, &default_design());
  EXPECT_FALSE(plain.ladder.has_value());
  EXPECT_EQ(plain.pipeline.kv_type, PipelineConfig{}.kv_type);
  EXPECT_EQ(plain.pipeline.prefill_chunk, PipelineConfig{}.prefill_chunk);
  EXPECT_EQ(plain.generation.max_new_tokens, GenerationConfig{}.max_new_tokens);
  EXPECT_FALSE(plain.generation.do_sample);
}

TEST(RunOptions, TypedValuesArrive) {
  const RunRequest typed = request(split_at_spaces(
      "--ladder 64,128 --kv-type f16 --chunk 32 --device-cores 0,2 --compile-cores 1 "
      "--max-new-tokens 7 --repetition-penalty 1.1 --seed 18446744073709551615 --stop END "
      "--stop \n\n --inject-compile-failure 128=no=good"));
  EXPECT_THAT(*typed.ladder, ElementsAre(64, 128));
  EXPECT_EQ(typed.pipeline.kv_type, KvType::kF16);
  EXPECT_EQ(typed.pipeline.prefill_chunk, 32);
  EXPECT_THAT(typed.pipeline.device_cores, ElementsAre(0, 2));
  EXPECT_THAT(typed.pipeline.compile_cores, ElementsAre(1));
  EXPECT_EQ(typed.generation.max_new_tokens, 7);
  EXPECT_FLOAT_EQ(typed.generation.repetition_penalty, 1.1F);
  EXPECT_EQ(typed.generation.rng_seed, 18446744073709551615U);
  EXPECT_THAT(typed.generation.stop_strings, ElementsAre("END", "\n\n"));
  EXPECT_FALSE(typed.generation.do_sample);
  EXPECT_EQ(typed.pipeline.inject_compile_failure->rung, 128);
  EXPECT_EQ(typed.pipeline.inject_compile_failure->message, "no=good");
}

TEST(RunOptions, ChunksOfThePlannerArrive) {
  const RunRequest typed =
      request({"--schedule", "planned", "--chunks", "32,128,512", "--first-chunk", "64"});
  EXPECT_THAT(typed.pipeline.chunks, ElementsAre(32, 128, 512));
  EXPECT_EQ(typed.pipeline.first_chunk, 64);
  EXPECT_THAT(typed.notes, IsEmpty());
}

TEST(RunOptions, ChunksOfThePlannerAreNotedWhereItDoesNotPlan) {
  EXPECT_THAT(request({"--schedule", "eager", "--chunks", "32", "--first-chunk", "32"}).notes,
              ElementsAre(AllOf(HasSubstr("--chunks"), HasSubstr("eager")),
                          AllOf(HasSubstr("--first-chunk"), HasSubstr("eager"))));
}

TEST(RunOptions, AHistoryIsAFileOrNone) {
  EXPECT_EQ(request({"--history", "h.json"}).pipeline.history, "h.json");
  EXPECT_EQ(request({"--history", "none"}).pipeline.history, "");
}

TEST(RunOptions, AnySamplingOptionTurnsSamplingOnAndTemperatureZeroOff) {
  EXPECT_TRUE(request({"--temperature", "0.8"}).generation.do_sample);
  EXPECT_TRUE(request({"--top-k", "40"}).generation.do_sample);
  EXPECT_TRUE(request({"--top-p", "0.9"}).generation.do_sample);
  const RunRequest greedy = request({"--temperature", "0", "--top-k", "40"});
  EXPECT_FALSE(greedy.generation.do_sample);
  EXPECT_GT(greedy.generation.temperature, 0);
}

TEST(RunOptions, ACoreNamedTwiceIsOneThread) {
  EXPECT_THAT(request({"--device-cores", "1,0,1,1"}).pipeline.device_cores, ElementsAre(1, 0));
}

TEST(RunOptions, ASeedThatSeedsNothingIsNoted) {
  EXPECT_THAT(request({"--seed", "7"}).notes, ElementsAre(HasSubstr("--seed")));
  EXPECT_THAT(request({"--seed", "7", "--top-k", "40", "--temperature", "0"}).notes,
              ElementsAre(AllOf(HasSubstr("--top-k, --seed"), HasSubstr("--temperature 0"))));
  EXPECT_THAT(request({"--seed", "7", "--temperature", "0.8"}).notes, IsEmpty());
  EXPECT_THAT(request({"--repetition-penalty", "1.1"}).notes, IsEmpty());
}

TEST(RunOptions, SamplingOfForcedTokensIsNoted) {
  EXPECT_THAT(
      request({"--force", "f.txt", "--temperature", "0.8", "--repetition-penalty", "1.1"}).notes,
      ElementsAre(AllOf(HasSubstr("--temperature, --repetition-penalty"), HasSubstr("--force"),
                        Not(HasSubstr("\n")))));
  EXPECT_THAT(request({"--force", "f.txt"}).notes, IsEmpty());
}

struct BadValue {
  std::vector<std::string> words;
  std::string option;
  std::string value;
};

TEST(RunOptions, AValueThatCanNotBeIsRefusedInOneLineNamingOptionAndValue) {
  const std::vector<BadValue> table = {
      {{"--design", "x"}, "design", "x"},
      {{"--ladder", "64,a"}, "ladder", "a"},
      {{"--schedule", "x"}, "schedule", "x"},
      {{"--kv", "x"}, "KV", "x"},
      {{"--kv-type", "f8"}, "KV type", "f8"},
      {{"--partition", "x"}, "partition", "x"},
      {{"--partition", "blocks:0"}, "partition", "blocks:0"},
      {{"--chunks", "32,0"}, "--chunks", "32,0"},
      {{"--first-chunk", "0"}, "--first-chunk", "0"},
      {{"--chunk", "1048577"}, "--chunk", "1048577"},
      {{"--resident", "1"}, "--resident", "1"},
      {{"--device-cores", "0,"}, "--device-cores", "0,"},
      {{"--compile-cores", "-1"}, "--compile-cores", "-1"},
      {{"--max-new-tokens", "0"}, "--max-new-tokens", "0"},
      {{"--temperature", "-1"}, "--temperature", "-1"},
      {{"--top-k", "1.5"}, "--top-k", "1.5"},
      {{"--top-p", "0"}, "--top-p", "0"},
      {{"--top-p", "1.1"}, "--top-p", "1.1"},
      {{"--repetition-penalty", "0"}, "--repetition-penalty", "0"},
      {{"--seed", "-1"}, "--seed", "-1"},
      {{"--stop", "a", "--stop", ""}, "--stop", ""},
      {{"--prompt-tokens", "0"}, "--prompt-tokens", "0"},
      {{"--inject-compile-failure", "x"}, "--inject-compile-failure", "x"},
  };
  for (const BadValue& bad : table) {
    EXPECT_THAT(refusal(bad.words), AllOf(HasSubstr(bad.option), HasSubstr("'" + bad.value + "'"),
                                          Not(HasSubstr("\n"))))
        << bad.words.front();
  }
}

TEST(ChosenLadder, IsTheDefaultOneOfTheRunsAxesUnlessItWasNamed) {
  const auto of = [](const RunRequest& asked) {
    return choose_ladder({.asked = asked.ladder, .otherwise = ladder_query(asked, 32768)});
  };
  const ChosenLadder usual = of(request({}));
  EXPECT_EQ(usual.rungs.back(), 32768);
  EXPECT_EQ(usual.note, "");
  const ChosenLadder design = of(request({"--design", "i1"}));
  EXPECT_EQ(design.rungs.back(), 8192);
  EXPECT_THAT(design.note, HasSubstr("eager"));
  const ChosenLadder schedule = of(request({"--schedule", "eager"}));
  EXPECT_EQ(schedule.rungs.back(), 8192);
  const ChosenLadder kv = of(request({"--kv", "shared-max"}));
  EXPECT_EQ(kv.rungs.back(), 8192);
  EXPECT_THAT(kv.note, HasSubstr("shared-max"));
  EXPECT_THAT(of(request({"--ladder", "64,16384"})).rungs, ElementsAre(64, 16384));
}

TEST(ChosenLadder, WhatWasAskedForIsNeverCut) {
  const std::vector<std::int64_t> asked = {64, 4096};
  EXPECT_EQ(choose_ladder({.asked = asked, .otherwise = {.trained_context = 4096}}).rungs, asked);
  EXPECT_THROW((void)choose_ladder({.asked = asked, .otherwise = {.trained_context = 2048}}),
               Error);
}

TEST(ChosenAxes, AreThePresetsUnlessOverridden) {
  for (const Design& design : designs()) {
    const RunRequest asked = request({"--design", std::string(design.name)});
    const ChosenAxes chosen = choose_axes(asked, {64, 128});
    EXPECT_EQ(chosen.design, design.name);
    EXPECT_EQ(chosen.axes.schedule, design.schedule);
    EXPECT_EQ(chosen.axes.kv, design.kv);
    EXPECT_EQ(chosen.axes.ladder.size(), design.last_rung_only ? 1U : 2U);
  }
}

TEST(ChosenAxes, AnOverrideThatChangesThePresetTakesItsName) {
  const ChosenAxes changed = choose_axes(request({"--schedule", "on-demand"}), {64, 128});
  EXPECT_EQ(changed.axes.schedule, Schedule::kOnDemand);
  EXPECT_EQ(changed.axes.kv, default_design().kv);
  EXPECT_THAT(changed.design, IsEmpty());
  const ChosenAxes same =
      choose_axes(request({"--kv", std::string(to_string(default_design().kv))}), {64, 128});
  EXPECT_EQ(same.design, default_design().name);
}

}  // namespace
}  // namespace ahead::cli
