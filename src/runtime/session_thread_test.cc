// A session beside a real compile thread, and told to stop there. May use: base, compile, kv, plan,
// GoogleTest.
#include <gtest/gtest.h>

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
using graph::ProgramShape;

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

  /// Another request with the same store generates everything.
  void expect_usable() {
    tokens_.clear();
    EXPECT_EQ(run({}, {}).finish_reason, FinishReason::kLength);
    EXPECT_EQ(tokens_, FakeModel::generate(World::Ask{}.prompt, 125));
  }

  const World shape_{{}};
  SteadyClock clock_;
  kv::FakePages pages_;
  std::shared_ptr<compile::FakeScript> script_ = std::make_shared<compile::FakeScript>();
  ThreadExecutor executor_{{}};
  ThreadExecutor helper_{{}};
  compile::ProgramStore store_{
      {.backend = std::make_shared<compile::FakeBackend>(compile::FakeBackend::Options{}, script_),
       .device = "FAKE",
       .helper = &helper_},
      executor_,
      clock_};
  std::vector<std::int32_t> tokens_;
  std::stop_source source_;
};

bool waits_for(const Progress& progress, const ProgramShape& shape) {
  return progress.kind == Progress::Kind::kCompileBegin && progress.foreground &&
         progress.program == shape.phase() && progress.rung == shape.rung;
}

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

TEST_F(ThreadedSessionTest, AStopEndsTheFirstWaitWhileTheCompileRunsOn) {
  std::latch waiting{1};
  std::latch go_on{1};
  ThreadExecutor stopper({});
  script_->compile_cost = [&](const ProgramShape&, std::size_t) {
    go_on.wait();
    return std::chrono::nanoseconds(0);
  };
  stopper.post([&] {
    waiting.wait();
    source_.request_stop();
  });
  const RunResult result = run(source_.get_token(), [&](const Progress& progress) {
    if (waits_for(progress, prefill_at(16))) waiting.count_down();
  });
  EXPECT_EQ(result.finish_reason, FinishReason::kCancelled);
  EXPECT_TRUE(tokens_.empty());
  EXPECT_EQ(store_.compiling(), prefill_at(16));
  go_on.count_down();
  expect_usable();
}

TEST_F(ThreadedSessionTest, AStopEndsDecodingWhileTheCompileBehindItRunsOn) {
  std::latch compiles{1};
  std::latch go_on{1};
  script_->compile_cost = [&](const ProgramShape& shape, std::size_t) {
    if (shape == decode_at(32)) {
      compiles.count_down();
      go_on.wait();
    }
    return std::chrono::nanoseconds(0);
  };
  const RunResult result = run(source_.get_token(), [&](const Progress& progress) {
    if (progress.kind != Progress::Kind::kToken || progress.tokens != 5) return;
    compiles.wait();
    source_.request_stop();
  });
  EXPECT_EQ(result.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(tokens_, FakeModel::generate(World::Ask{}.prompt, 5));
  EXPECT_EQ(store_.compiling(), decode_at(32));
  go_on.count_down();
  expect_usable();
}

}  // namespace
}  // namespace ahead::runtime
