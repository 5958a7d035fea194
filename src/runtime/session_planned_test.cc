// Schedule planned on the toy model: what compiles beside what, and that a program that failed ends
// nothing while another one can do its work. May use: base, compile's fakes, kv's, plan,
// GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Not;

World::Options planned(std::vector<std::int64_t> ladder) {
  World::Options options{.axes = {.ladder = std::move(ladder), .schedule = Schedule::kPlanned}};
  options.forms = {{.name = "soon"}, {.name = "fast", .expected = 0.5}};
  options.weight_bytes = 40'000'000;
  return options;
}

std::vector<std::string> names_in(const RunResult& result) {
  std::vector<std::string> names;
  for (const TraceEvent& event : result.trace) names.push_back(event.name);
  return names;
}

/// The whole ladder was decoded, every token the model's.
void expect_all(const World& world, const Outcome& outcome) {
  EXPECT_EQ(outcome.result.error, "");
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kLength);
  EXPECT_EQ(outcome.wrong_logits, 0U);
  EXPECT_EQ(static_cast<std::int64_t>(outcome.tokens.size()),
            world.options.axes.ladder.back() - outcome.result.rows.front().prompt + 1);
}

TEST(PlannedTest, TheDecodeProgramOfABatchCompilesBehindItsPrompts) {
  World::Options options = planned({128, 256});
  options.chunk = 4;
  World world(options);
  const auto outcome = world.run_batch(
      {.prompts = {prompt_of(100), prompt_of(100), prompt_of(100)}, .max_new_tokens = 5});
  EXPECT_EQ(outcome.result.error, "");
  EXPECT_NEAR(outcome.result.time_s.foreground_compile, 0.010, 1e-9) << "the first program's";
  EXPECT_GT(outcome.result.time_s.hidden_compile, 0);
}

TEST(PlannedTest, AFasterFormIsTakenUpWhenItIsReady) {
  World world(planned({64, 128}));
  world.script->decode_cost = milliseconds(10);
  const Outcome outcome = world.run();
  expect_all(world, outcome);
  EXPECT_THAT(world.started(), Contains(graph::ProgramShape{.rung = 64, .tier = 1}));
  EXPECT_THAT(names_in(outcome.result), Contains("use decode@64 tier 1"));
  EXPECT_EQ(outcome.result.time_s.boundary_wait, 0);
}

TEST(PlannedTest, AFasterFormThatFailedEndsNothing) {
  World world(planned({64, 128}));
  world.script->decode_cost = milliseconds(10);
  world.script->compile_failures[{.rung = 64, .tier = 1}] = "no";
  const Outcome outcome = world.run();
  expect_all(world, outcome);
  EXPECT_THAT(names_in(outcome.result), Not(Contains("use decode@64 tier 1")));
}

TEST(PlannedTest, AFormThatFailsWhileItIsWaitedForLeavesTheSlowerOne) {
  World world(planned({64, 128}));
  world.script->decode_cost = milliseconds(30);
  const graph::ProgramShape late{.rung = 128, .tier = 1};
  world.compile_costs[late] = milliseconds(5000);
  world.script->compile_failures[late] = "no";
  const Outcome outcome = world.run();
  expect_all(world, outcome);
  ASSERT_THAT(world.started(), Contains(late));
  EXPECT_THAT(world.started(), Contains(decode_at(128)));
  EXPECT_GT(outcome.result.time_s.boundary_wait, 1) << "it was waited for";
}

TEST(PlannedTest, AChunkThatFailedIsReadInAnother) {
  World::Options options = planned({64, 128});
  options.chunks = {4, 16};
  World world(options);
  world.script->compile_failures[prefill_at(64, 16)] = "no";
  const Outcome first = world.run({.prompt = prompt_of(40), .max_new_tokens = 1});
  EXPECT_EQ(first.result.error, "");
  EXPECT_EQ(first.tokens.size(), 1U);
  EXPECT_EQ(first.wrong_logits, 0U);
  EXPECT_THAT(world.started(), Contains(prefill_at(64, 16))) << "what the planner preferred";
  EXPECT_THAT(world.started(), Contains(prefill_at(64, 4)));
  const Outcome second = world.run({.prompt = prompt_of(40), .max_new_tokens = 1});
  EXPECT_EQ(second.tokens, first.tokens);
}

TEST(PlannedTest, WhatASecondRequestNeedsIsThereAndNoOtherRung) {
  World world(planned({32, 64, 128}));
  (void)world.run();
  const Outcome second = world.run({.max_new_tokens = 2});
  EXPECT_EQ(second.result.error, "");
  const auto settled = world.store->settled();
  EXPECT_THAT(settled, Contains(decode_at(32)));
  for (const graph::ProgramShape& shape : settled) EXPECT_LE(shape.rung, 64);
}

}  // namespace
}  // namespace ahead::runtime
