// A session that is told to stop, in every state. May use: base, compile, kv, plan, GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using compile::ProgramState;
using graph::ProgramShape;
using std::chrono::milliseconds;

constexpr Schedule kSchedules[] = {Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand};

World::Options with(Schedule schedule) {
  return {.axes = {.ladder = {16, 32, 64, 128}, .schedule = schedule}};
}

void expect_tokens(const Outcome& outcome, std::size_t count) {
  EXPECT_EQ(outcome.tokens, FakeModel::generate(World::Ask{}.prompt, count));
  EXPECT_EQ(outcome.wrong_logits, 0U);
}

void expect_cancelled(const Outcome& outcome, std::size_t tokens) {
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(outcome.result.error, "");
  expect_tokens(outcome, tokens);
}

/// The world is as good as new: another request generates everything.
void expect_usable(World& world) {
  const Outcome outcome = world.run();
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kLength);
  expect_tokens(outcome, 125);
  EXPECT_EQ(world.pages.fake.held_regions(), 0U);
}

bool waits_for(const Progress& progress, const ProgramShape& shape) {
  return progress.kind == Progress::Kind::kCompileBegin && progress.foreground &&
         progress.program == shape.phase() && progress.rung == shape.rung;
}

TEST(StopTest, BeforeTheFirstCompileStartsNothing) {
  for (const Schedule schedule : kSchedules) {
    World world(with(schedule));
    std::stop_source source;
    source.request_stop();
    expect_cancelled(world.run({.stop = source.get_token()}), 0);
    EXPECT_TRUE(world.started().empty());
    expect_usable(world);
  }
}

TEST(StopTest, WhileWaitingForTheFirstCompileReturnsAtOnce) {
  for (const Schedule schedule : kSchedules) {
    World world(with(schedule));
    std::stop_source source;
    const Outcome outcome =
        world.run({.stop = source.get_token(), .on_progress = [&](const Progress& progress) {
                     if (waits_for(progress, prefill_at(16))) source.request_stop();
                   }});
    expect_cancelled(outcome, 0);
    EXPECT_EQ(outcome.elapsed_s, 0);
    EXPECT_EQ(world.store->compiling(), prefill_at(16)) << "the compile goes on by itself";
    expect_usable(world);
    EXPECT_EQ(std::count(world.backend->compiles().begin(), world.backend->compiles().end(),
                         compile::FakeBackend::Compile{prefill_at(16), "whole"}),
              1)
        << "and the next request uses what it comes to";
  }
}

TEST(StopTest, AtTheEndOfTheFirstCompileStartsNoOther) {
  for (const Schedule schedule : kSchedules) {
    SCOPED_TRACE(name_of(schedule));
    World world(with(schedule));
    std::stop_source source;
    world.script->compile_cost = [&, cost = world.script->compile_cost](const ProgramShape& shape,
                                                                        std::size_t part) {
      source.request_stop();
      return cost(shape, part);
    };
    expect_cancelled(world.run({.stop = source.get_token()}), 0);
    EXPECT_EQ(world.started(), std::vector{prefill_at(16)});
    EXPECT_EQ(world.script->steps, 0U);
    expect_usable(world);
  }
}

TEST(StopTest, InThePromptEndsAfterTheChunk) {
  for (const Schedule schedule : kSchedules) {
    World world(with(schedule));
    std::stop_source source;
    world.on_step = [&] {
      if (world.script->steps == 3) source.request_stop();  // 48 of 64 rows
    };
    const Outcome outcome = world.run({.prompt = prompt_of(100), .stop = source.get_token()});
    EXPECT_EQ(outcome.result.finish_reason, FinishReason::kCancelled);
    EXPECT_TRUE(outcome.tokens.empty());
    EXPECT_EQ(world.script->steps, 3U);
    expect_usable(world);
  }
}

TEST(StopTest, WhileDecodingEndsAtTheNextTokenAndLeavesTheQueuedCompile) {
  World world(with(Schedule::kOneAhead));
  std::stop_source source;
  const Outcome outcome =
      world.run({.stop = source.get_token(), .on_token = [&](std::size_t tokens) {
                   if (tokens == 5) source.request_stop();
                   return std::nullopt;
                 }});
  expect_cancelled(outcome, 5);
  EXPECT_EQ(world.store->compiling(), decode_at(32));
  EXPECT_EQ(world.executor.queued(), 1U);
  ASSERT_TRUE(world.executor.run_one());
  EXPECT_EQ(world.store->state(decode_at(32)), ProgramState::kReady);
  expect_usable(world);
}

TEST(StopTest, WhileDecodingThenTheStoreGoesWithACompileQueued) {
  World world(with(Schedule::kOneAhead));
  std::stop_source source;
  expect_cancelled(world.run({.stop = source.get_token(),
                              .on_token =
                                  [&](std::size_t tokens) {
                                    if (tokens == 5) source.request_stop();
                                    return std::nullopt;
                                  }}),
                   5);
  world.store.reset();
  ASSERT_TRUE(world.executor.run_one());
  EXPECT_EQ(world.script->live_artifacts, 0);
}

TEST(StopTest, DuringAStepEndsAfterItsToken) {
  for (const Schedule schedule : kSchedules) {
    World world(with(schedule));
    std::stop_source source;
    world.on_step = [&] {
      if (world.script->steps == 13) source.request_stop();  // the step that fills the rung
    };
    const Outcome outcome = world.run({.stop = source.get_token()});
    expect_cancelled(outcome, 13);
    EXPECT_TRUE(outcome.result.boundaries.empty());
    expect_usable(world);
  }
}

TEST(StopTest, WhileWaitingAtABoundaryReturnsAtOnce) {
  for (const Schedule schedule : {Schedule::kOneAhead, Schedule::kOnDemand}) {
    World world(with(schedule));
    world.compile_costs[decode_at(32)] = milliseconds(50);
    std::stop_source source;
    const Outcome outcome =
        world.run({.stop = source.get_token(), .on_progress = [&](const Progress& progress) {
                     if (waits_for(progress, decode_at(32))) source.request_stop();
                   }});
    expect_cancelled(outcome, 13);
    EXPECT_TRUE(outcome.result.boundaries.empty());
    EXPECT_EQ(outcome.result.time_s.boundary_wait, 0);
    EXPECT_EQ(world.store->compiling(), decode_at(32));
    expect_usable(world);
  }
}

// A stop given from a callback was seen only behind the consultation that follows it.
TEST(StopTest, AtASwitchStartsNoFurtherCompile) {
  World world(with(Schedule::kOneAhead));
  std::stop_source source;
  const Outcome outcome =
      world.run({.stop = source.get_token(), .on_progress = [&](const Progress& progress) {
                   if (progress.kind == Progress::Kind::kBoundary) source.request_stop();
                 }});
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(outcome.result.boundaries.size(), 1U);
  EXPECT_EQ(world.started(), (std::vector{prefill_at(16), decode_at(16), decode_at(32)}));
  expect_usable(world);
}

TEST(StopTest, TheCallersReasonIsTheResults) {
  for (const FinishReason reason :
       {FinishReason::kStop, FinishReason::kStopped, FinishReason::kCancelled}) {
    for (const std::size_t at : {1U, 7U, 13U, 125U}) {
      World world(with(Schedule::kOneAhead));
      const Outcome outcome = world.run({.on_token = [&](std::size_t tokens) {
        return tokens == at ? std::optional(reason) : std::nullopt;
      }});
      EXPECT_EQ(outcome.result.finish_reason, reason);
      expect_tokens(outcome, at);
      EXPECT_EQ(world.script->steps, at) << "no step is taken for a token nobody wants";
    }
  }
}

TEST(StopTest, AnotherRequestsCompileIsWaitedForBeforeOnesOwn) {
  World world(with(Schedule::kOneAhead));
  std::stop_source source;
  world.on_step = [&] { source.request_stop(); };
  // Ends in the first chunk, with prefill@32 under way: nothing a short prompt needs.
  static_cast<void>(world.run({.prompt = prompt_of(20), .stop = source.get_token()}));
  ASSERT_EQ(world.store->compiling(), prefill_at(32));
  world.on_step = nullptr;
  world.store->release(prefill_at(16));
  const Outcome outcome = world.run();
  expect_tokens(outcome, 125);
  // prefill@32 has 8 ms left, then prefill@16 takes 10, and decode@16 8 beyond the chunk.
  EXPECT_NEAR(outcome.result.time_s.foreground_compile, 0.026, 1e-12);
  ASSERT_FALSE(outcome.result.compiles.empty());
  EXPECT_EQ(outcome.result.compiles[0].part, "prefill");
  EXPECT_EQ(outcome.result.compiles[0].rung, 32);
  EXPECT_NEAR(outcome.result.compiles[0].begin_s, -0.002, 1e-12);
  EXPECT_NEAR(outcome.result.compiles[0].waited_s, 0.008, 1e-12);
}

/// Has a stop come during call `at`, counted from 1 once arm() was called.
struct StopAtCall {
  StopAtCall(World& world, std::size_t at) {
    world.script->on_call = [this, at] {
      if (armed && ++calls == at) source.request_stop();
    };
  }
  void arm() { armed = true; }

  std::stop_source source;
  bool armed = false;
  std::size_t calls = 0;
};

/// All is compiled before the first chunk, so that every call behind it is a step's.
World::Options in_parts() {
  return {.axes = {.ladder = {16, 32, 64, 128},
                   .schedule = Schedule::kEager,
                   .partition = Partition::kAttention},
          .cut = true};
}
constexpr std::size_t kCallsOfAStep = 2 + FakeModel::kLayers;

TEST(StopTest, BetweenTheCallsOfAChunkEndsWithoutTheChunk) {
  for (std::size_t at = 1; at <= kCallsOfAStep; ++at) {
    SCOPED_TRACE(at);
    World world(in_parts());
    StopAtCall stop(world, at);
    const Outcome outcome = world.run({.prompt = prompt_of(40),
                                       .stop = stop.source.get_token(),
                                       .on_progress = [&](const Progress& progress) {
                                         if (progress.kind == Progress::Kind::kPrefill) stop.arm();
                                       }});
    world.script->on_call = nullptr;
    EXPECT_EQ(outcome.result.finish_reason, FinishReason::kCancelled);
    EXPECT_EQ(outcome.result.error, "");
    EXPECT_TRUE(outcome.tokens.empty());
    EXPECT_EQ(stop.calls, at) << "no call begins behind the stop";
    const auto chunks = std::count_if(
        outcome.progress.begin(), outcome.progress.end(),
        [](const Progress& progress) { return progress.kind == Progress::Kind::kPrefill; });
    EXPECT_EQ(chunks, at == kCallsOfAStep ? 2 : 1) << "a chunk that was stopped has no rows";
    expect_usable(world);
  }
}

TEST(StopTest, BetweenTheCallsOfADecodeStepEndsWithoutItsToken) {
  for (const std::size_t tokens : {1U, 5U, 13U}) {  // the last: the step behind a switch
    for (std::size_t at = 1; at <= kCallsOfAStep; ++at) {
      SCOPED_TRACE(std::to_string(tokens) + " tokens, call " + std::to_string(at));
      World world(in_parts());
      StopAtCall stop(world, at);
      const Outcome outcome =
          world.run({.stop = stop.source.get_token(), .on_token = [&](std::size_t made) {
                       if (made == tokens) stop.arm();
                       return std::nullopt;
                     }});
      world.script->on_call = nullptr;
      const bool ended = at == kCallsOfAStep;
      expect_cancelled(outcome, tokens + (ended ? 1 : 0));
      EXPECT_EQ(stop.calls, at) << "no call begins behind the stop";
      std::int64_t steps = 0;
      for (const auto& [rung, by_rung] : outcome.result.tokens.by_rung) steps += by_rung.count;
      EXPECT_EQ(steps, static_cast<std::int64_t>(outcome.tokens.size()) - 1)
          << "a step that was stopped is none";
      expect_usable(world);
    }
  }
}

TEST(StopTest, BetweenTheCallsOfABatchsStepEndsEverySequenceWithoutItsToken) {
  const std::vector<std::vector<std::int32_t>> prompts = {{3, 1, 4}, {1, 5}, {9, 2, 6, 5}};
  const std::size_t calls = 2 + prompts.size() * FakeModel::kLayers;
  for (std::size_t at = 1; at <= calls; ++at) {
    SCOPED_TRACE(at);
    World world(in_parts());
    StopAtCall stop(world, at);
    const World::Batch batch =
        world.run_batch({.prompts = prompts,
                         .stop = stop.source.get_token(),
                         .on_token = [&](std::int64_t row, std::size_t made) {
                           if (row == 2 && made == 4) stop.arm();
                           return std::nullopt;
                         }});
    world.script->on_call = nullptr;
    EXPECT_EQ(batch.result.finish_reason, FinishReason::kCancelled);
    EXPECT_EQ(stop.calls, at);
    EXPECT_EQ(batch.wrong_logits, 0U);
    for (std::size_t row = 0; row < prompts.size(); ++row) {
      EXPECT_EQ(batch.tokens[row], FakeModel::generate(prompts[row], at == calls ? 5 : 4));
      EXPECT_EQ(batch.result.rows.at(row).finish_reason, FinishReason::kCancelled);
    }
    expect_usable(world);
  }
}

TEST(StopTest, InASwitchEndsBeforeTheFirstStepBehindIt) {
  for (const KvPolicy kv : {KvPolicy::kCopyGrow, KvPolicy::kInPlace, KvPolicy::kSharedMax}) {
    for (const std::size_t prompt : {4U, 40U}) {  // switches of a sequence, and of a prompt
      SCOPED_TRACE(prompt);
      World::Options options = with(Schedule::kOneAhead);
      options.axes.kv = kv;
      World world(options);
      std::stop_source source;
      std::size_t steps = 0;
      const Outcome outcome =
          world.run({.prompt = prompt == 4 ? World::Ask{}.prompt : prompt_of(prompt),
                     .stop = source.get_token(),
                     .on_progress = [&](const Progress& progress) {
                       if (progress.kind != Progress::Kind::kBoundary) return;
                       source.request_stop();
                       steps = world.script->steps;
                     }});
      EXPECT_EQ(outcome.result.finish_reason, FinishReason::kCancelled);
      EXPECT_EQ(outcome.tokens.size(), prompt == 4 ? 13U : 0U);
      EXPECT_EQ(outcome.wrong_logits, 0U);
      EXPECT_EQ(outcome.result.boundaries.size(), 1U);
      EXPECT_EQ(world.script->steps, steps);
      expect_usable(world);
    }
  }
}

}  // namespace
}  // namespace ahead::runtime
