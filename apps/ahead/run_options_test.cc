// Tests of the options of `ahead run`. May use: include/ahead, GoogleTest.
#include "run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunFlags flags() {
  RunFlags out;
  out.model = "m.gguf";
  out.prompt = "hi";
  return out;
}

RunRequest request(const std::function<void(RunFlags&)>& change = [](RunFlags&) {}) {
  RunFlags changed = flags();
  change(changed);
  return read_flags(changed);
}

std::string refusal(const std::function<void(RunFlags&)>& change) {
  try {
    (void)request(change);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "accepted";
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
  const RunRequest typed = request([](RunFlags& f) {
    f.ladder = "64,128";
    f.kv_type = "f16";
    f.chunk = "32";
    f.device_cores = "0,2";
    f.compile_cores = "1";
    f.max_new_tokens = "7";
    f.repetition_penalty = "1.1";
    f.seed = "18446744073709551615";
    f.stop = {"END", "\n\n"};
    f.inject_compile_failure = "128=no=good";
  });
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
  const RunRequest typed = request([](RunFlags& f) {
    f.schedule = "planned";
    f.chunks = "32,128,512";
    f.first_chunk = "64";
  });
  EXPECT_THAT(typed.pipeline.chunks, ElementsAre(32, 128, 512));
  EXPECT_EQ(typed.pipeline.first_chunk, 64);
  EXPECT_THAT(typed.notes, IsEmpty());
}

TEST(RunOptions, ChunksOfThePlannerAreNotedWhereItDoesNotPlan) {
  EXPECT_THAT(request([](RunFlags& f) {
                f.schedule = "eager";
                f.chunks = "32";
                f.first_chunk = "32";
              }).notes,
              ElementsAre(AllOf(HasSubstr("--chunks"), HasSubstr("eager")),
                          AllOf(HasSubstr("--first-chunk"), HasSubstr("eager"))));
}

TEST(RunOptions, AHistoryIsAFileOrNone) {
  EXPECT_EQ(request([](RunFlags& f) { f.history = "h.json"; }).pipeline.history, "h.json");
  EXPECT_EQ(request([](RunFlags& f) { f.history = "none"; }).pipeline.history, "");
}

TEST(RunOptions, AnySamplingOptionTurnsSamplingOnAndTemperatureZeroOff) {
  EXPECT_TRUE(request([](RunFlags& f) { f.temperature = "0.8"; }).generation.do_sample);
  EXPECT_TRUE(request([](RunFlags& f) { f.top_k = "40"; }).generation.do_sample);
  EXPECT_TRUE(request([](RunFlags& f) { f.top_p = "0.9"; }).generation.do_sample);
  const RunRequest greedy = request([](RunFlags& f) {
    f.temperature = "0";
    f.top_k = "40";
  });
  EXPECT_FALSE(greedy.generation.do_sample);
  EXPECT_GT(greedy.generation.temperature, 0);
}

TEST(RunOptions, ACoreNamedTwiceIsOneThread) {
  EXPECT_THAT(request([](RunFlags& f) { f.device_cores = "1,0,1,1"; }).pipeline.device_cores,
              ElementsAre(1, 0));
}

TEST(RunOptions, ASeedThatSeedsNothingIsNoted) {
  EXPECT_THAT(request([](RunFlags& f) { f.seed = "7"; }).notes, ElementsAre(HasSubstr("--seed")));
  EXPECT_THAT(request([](RunFlags& f) {
                f.seed = "7";
                f.top_k = "40";
                f.temperature = "0";
              }).notes,
              ElementsAre(AllOf(HasSubstr("--top-k, --seed"), HasSubstr("--temperature 0"))));
  EXPECT_THAT(request([](RunFlags& f) {
                f.seed = "7";
                f.temperature = "0.8";
              }).notes,
              IsEmpty());
  EXPECT_THAT(request([](RunFlags& f) { f.repetition_penalty = "1.1"; }).notes, IsEmpty());
}

TEST(RunOptions, SamplingOfForcedTokensIsNoted) {
  EXPECT_THAT(request([](RunFlags& f) {
                f.force = "f.txt";
                f.temperature = "0.8";
                f.repetition_penalty = "1.1";
              }).notes,
              ElementsAre(AllOf(HasSubstr("--temperature, --repetition-penalty"),
                                HasSubstr("--force"), Not(HasSubstr("\n")))));
  EXPECT_THAT(request([](RunFlags& f) { f.force = "f.txt"; }).notes, IsEmpty());
}

struct BadFlag {
  std::string name;
  std::function<void(RunFlags&)> change;
  std::string option;
  std::string value;
};

class BadFlags : public ::testing::TestWithParam<BadFlag> {};

TEST_P(BadFlags, AreRefusedInOneLineNamingOptionAndValue) {
  EXPECT_THAT(refusal(GetParam().change),
              AllOf(HasSubstr(GetParam().option), HasSubstr("'" + GetParam().value + "'"),
                    Not(HasSubstr("\n"))));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, BadFlags,
    ::testing::Values(
        BadFlag{"Design", [](RunFlags& f) { f.design = "x"; }, "design", "x"},
        BadFlag{"Ladder", [](RunFlags& f) { f.ladder = "64,a"; }, "ladder", "a"},
        BadFlag{"Schedule", [](RunFlags& f) { f.schedule = "x"; }, "schedule", "x"},
        BadFlag{"Kv", [](RunFlags& f) { f.kv = "x"; }, "KV", "x"},
        BadFlag{"KvType", [](RunFlags& f) { f.kv_type = "f8"; }, "KV type", "f8"},
        BadFlag{"Partition", [](RunFlags& f) { f.partition = "x"; }, "partition", "x"},
        BadFlag{"PartitionBlocks", [](RunFlags& f) { f.partition = "blocks:0"; }, "partition",
                "blocks:0"},
        BadFlag{"ChunksEmpty", [](RunFlags& f) { f.chunks = ""; }, "--chunks", ""},
        BadFlag{"ChunksTrailing", [](RunFlags& f) { f.chunks = "32,"; }, "--chunks", "32,"},
        BadFlag{"ChunksZero", [](RunFlags& f) { f.chunks = "32,0"; }, "--chunks", "32,0"},
        BadFlag{"FirstChunkZero", [](RunFlags& f) { f.first_chunk = "0"; }, "--first-chunk", "0"},
        BadFlag{"ChunkZero", [](RunFlags& f) { f.chunk = "0"; }, "--chunk", "0"},
        BadFlag{"ChunkHuge", [](RunFlags& f) { f.chunk = "9999999999"; }, "--chunk", "9999999999"},
        BadFlag{"Cores", [](RunFlags& f) { f.device_cores = "0,"; }, "--device-cores", "0,"},
        BadFlag{"CoresNegative", [](RunFlags& f) { f.compile_cores = "-1"; }, "--compile-cores",
                "-1"},
        BadFlag{"MaxNewTokensZero", [](RunFlags& f) { f.max_new_tokens = "0"; }, "--max-new-tokens",
                "0"},
        BadFlag{"MaxNewTokensWord", [](RunFlags& f) { f.max_new_tokens = "ten"; },
                "--max-new-tokens", "ten"},
        BadFlag{"TemperatureNegative", [](RunFlags& f) { f.temperature = "-1"; }, "--temperature",
                "-1"},
        BadFlag{"TemperatureNan", [](RunFlags& f) { f.temperature = "nan"; }, "--temperature",
                "nan"},
        BadFlag{"TemperatureInfinite", [](RunFlags& f) { f.temperature = "inf"; }, "--temperature",
                "inf"},
        BadFlag{"TopKFraction", [](RunFlags& f) { f.top_k = "1.5"; }, "--top-k", "1.5"},
        BadFlag{"TopPZero", [](RunFlags& f) { f.top_p = "0"; }, "--top-p", "0"},
        BadFlag{"TopPMore", [](RunFlags& f) { f.top_p = "1.1"; }, "--top-p", "1.1"},
        BadFlag{"Penalty", [](RunFlags& f) { f.repetition_penalty = "0"; }, "--repetition-penalty",
                "0"},
        BadFlag{"Seed", [](RunFlags& f) { f.seed = "-1"; }, "--seed", "-1"},
        BadFlag{"StopEmpty",
                [](RunFlags& f) {
                  f.stop = {"a", ""};
                },
                "--stop", ""},
        BadFlag{"PromptTokens", [](RunFlags& f) { f.prompt_tokens = "0"; }, "--prompt-tokens", "0"},
        BadFlag{"Injection", [](RunFlags& f) { f.inject_compile_failure = "x"; },
                "--inject-compile-failure", "x"}),
    [](const auto& bad) { return bad.param.name; });

TEST(ChosenLadder, IsTheDefaultOneOfTheRunsAxesUnlessItWasNamed) {
  const auto of = [](const RunRequest& asked) {
    return choose_ladder({.asked = asked.ladder, .otherwise = ladder_query(asked, 32768)});
  };
  const ChosenLadder usual = of(request([](RunFlags&) {}));
  EXPECT_EQ(usual.rungs.back(), 32768);
  EXPECT_EQ(usual.note, "");
  const ChosenLadder design = of(request([](RunFlags& f) { f.design = "i1"; }));
  EXPECT_EQ(design.rungs.back(), 8192);
  EXPECT_THAT(design.note, HasSubstr("eager"));
  const ChosenLadder schedule = of(request([](RunFlags& f) { f.schedule = "eager"; }));
  EXPECT_EQ(schedule.rungs.back(), 8192);
  const ChosenLadder kv = of(request([](RunFlags& f) { f.kv = "shared-max"; }));
  EXPECT_EQ(kv.rungs.back(), 8192);
  EXPECT_THAT(kv.note, HasSubstr("shared-max"));
  EXPECT_THAT(of(request([](RunFlags& f) { f.ladder = "64,16384"; })).rungs,
              ElementsAre(64, 16384));
}

TEST(ChosenLadder, WhatWasAskedForIsNeverCut) {
  const std::vector<std::int64_t> asked = {64, 4096};
  EXPECT_EQ(choose_ladder({.asked = asked, .otherwise = {.trained_context = 4096}}).rungs, asked);
  EXPECT_THROW((void)choose_ladder({.asked = asked, .otherwise = {.trained_context = 2048}}),
               Error);
}

TEST(ChosenAxes, AreThePresetsUnlessOverridden) {
  for (const Design& design : designs()) {
    const RunRequest asked = request([&](RunFlags& f) { f.design = std::string(design.name); });
    const ChosenAxes chosen = choose_axes(asked, {64, 128});
    EXPECT_EQ(chosen.design, design.name);
    EXPECT_EQ(chosen.axes.schedule, design.schedule);
    EXPECT_EQ(chosen.axes.kv, design.kv);
    EXPECT_EQ(chosen.axes.ladder.size(), design.last_rung_only ? 1U : 2U);
  }
}

TEST(ChosenAxes, AnOverrideThatChangesThePresetTakesItsName) {
  const ChosenAxes changed =
      choose_axes(request([](RunFlags& f) { f.schedule = "on-demand"; }), {64, 128});
  EXPECT_EQ(changed.axes.schedule, Schedule::kOnDemand);
  EXPECT_EQ(changed.axes.kv, default_design().kv);
  EXPECT_THAT(changed.design, IsEmpty());
  const ChosenAxes same = choose_axes(
      request([](RunFlags& f) { f.kv = std::string(to_string(default_design().kv)); }), {64, 128});
  EXPECT_EQ(same.design, default_design().name);
}

}  // namespace
}  // namespace ahead::cli
