// A session that is told to stop, in every state, by hand and beside a real compile thread.
// May use: base, compile, kv, plan, GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
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

/// A session beside a real compile thread.
class ThreadedSessionTest : public testing::Test {
 protected:
  /// Runs one request with `compile_cost` as the hook of the compile thread.
  RunResult run(std::stop_token stop, const ProgressObserver& progress) {
    const Callbacks callbacks{
        .choose = [](const StepLogits& step) { return FakeModel::greedy(step.values); },
        .accept = [this](std::int64_t, std::int32_t token) -> std::optional<FinishReason> {
          tokens_.push_back(token);
          return std::nullopt;
        },
        .progress = progress};
    RunResult result;
    Session session(shape_.session_options(),
                    {.programs = store_, .pages = pages_, .clock = clock_});
    session.run({.prompts = {World::Ask{}.prompt}, .max_new_tokens = 1000, .stop = std::move(stop)},
                callbacks, result);
    return result;
  }

  const World shape_{{}};
  SteadyClock clock_;
  kv::FakePages pages_;
  std::shared_ptr<compile::FakeScript> script_ = std::make_shared<compile::FakeScript>();
  ThreadExecutor executor_{{}};
  compile::ProgramStore store_{
      {.backend = std::make_shared<compile::FakeBackend>(compile::FakeBackend::Options{}, script_),
       .device = "FAKE"},
      executor_,
      clock_};
  std::vector<std::int32_t> tokens_;
  std::stop_source source_;
};

TEST_F(ThreadedSessionTest, GeneratesTheSame) {
  const RunResult result = run({}, {});
  EXPECT_EQ(result.finish_reason, FinishReason::kLength);
  EXPECT_EQ(result.boundaries.size(), 3U);
  EXPECT_EQ(tokens_, FakeModel::generate(World::Ask{}.prompt, 125));
}

TEST_F(ThreadedSessionTest, AStopEndsTheWaitAtABoundaryWhileTheCompileRunsOn) {
  std::latch at_boundary{1};
  std::latch go_on{1};
  ThreadExecutor stopper({});
  script_->compile_cost = [&](const ProgramShape& shape, std::size_t) {
    if (shape == decode_at(32)) go_on.wait();
    return std::chrono::nanoseconds(0);
  };
  stopper.post([&] {
    at_boundary.wait();
    source_.request_stop();
  });
  const RunResult result = run(source_.get_token(), [&](const Progress& progress) {
    if (waits_for(progress, decode_at(32))) at_boundary.count_down();
  });
  EXPECT_EQ(result.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(tokens_, FakeModel::generate(World::Ask{}.prompt, 13));
  EXPECT_EQ(store_.compiling(), decode_at(32));
  go_on.count_down();
  EXPECT_TRUE(store_.wait(decode_at(32), {}));
}

}  // namespace
}  // namespace ahead::runtime
