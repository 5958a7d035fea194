// Parts compiled by one thread or two, and what is left when one fails. May use: base, GoogleTest.
#include "compile/part_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/executor.h"
#include "compile/fake_backend.h"
#include "compile/program_store.h"

namespace ahead::compile {
namespace {

std::shared_ptr<Artifact> artifact() {
  return std::make_shared<FakeArtifact>(FakePart::kWhole, 0, std::vector<std::string>{"FAKE"},
                                        std::make_shared<FakeScript>());
}

bool always() { return true; }

TEST(PartQueueTest, OneThreadCompilesAllInOrder) {
  std::vector<std::size_t> order;
  PartQueue queue({2, 5, 7}, [&](std::size_t part) {
    order.push_back(part);
    return artifact();
  });
  queue.work(always);
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 5, 7}));
  EXPECT_EQ(queue.finish().size(), 3U);
}

TEST(PartQueueTest, TwoThreadsCompileEachPartOnceAndTwoAtATime) {
  std::barrier both(2);
  std::mutex mutex;
  std::multiset<std::size_t> compiled;
  // Neither gets on before the other has come: with one thread it would never end.
  PartQueue queue({0, 1, 2, 3}, [&](std::size_t part) {
    both.arrive_and_wait();
    const std::lock_guard lock(mutex);
    compiled.insert(part);
    return artifact();
  });
  std::jthread helper([&] { queue.work(always); });
  queue.work(always);
  EXPECT_EQ(queue.finish().size(), 4U);
  EXPECT_EQ(compiled, (std::multiset<std::size_t>{0, 1, 2, 3}));
}

TEST(PartQueueTest, WhoIsNotWantedAnyMoreTakesNoFurtherPart) {
  int asked = 0;
  PartQueue queue({0, 1, 2}, [](std::size_t) { return artifact(); });
  queue.work([&] { return ++asked <= 2; });
  queue.work([] { return false; });
  EXPECT_EQ(asked, 3);
  queue.work(always);
  EXPECT_EQ(queue.finish().size(), 3U);
}

TEST(PartQueueTest, TheErrorOfThePartThatFailedIsThrownAndNoOtherIsTaken) {
  std::size_t compiled = 0;
  PartQueue queue({0, 1, 2}, [&](std::size_t part) -> std::shared_ptr<Artifact> {
    ++compiled;
    if (part == 1) throw std::runtime_error("part one");
    return artifact();
  });
  queue.work(always);
  EXPECT_EQ(compiled, 2U);
  try {
    static_cast<void>(queue.finish());
    FAIL() << "an error was lost";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "part one");
  }
}

/// A store with a compile thread and a helper, on a model cut in three parts.
TEST(HelperTest, AWaitingRequestsProgramIsCompiledByBoth) {
  const auto script = std::make_shared<FakeScript>();
  std::barrier both(2);
  std::atomic<int> calls{0};
  script->compile_cost = [&](const graph::ProgramShape&, std::size_t) {
    if (++calls <= 2) both.arrive_and_wait();  // of three parts, two at once
    return std::chrono::nanoseconds(0);
  };
  const SteadyClock clock;
  ThreadExecutor executor{{}};
  ThreadExecutor helper{{}};
  ProgramStore store(
      {.backend = std::make_shared<FakeBackend>(FakeBackend::Options{.cut = true}, script),
       .device = "FAKE",
       .helper = &helper},
      executor, clock);
  const graph::ProgramShape shape{.rung = 16};
  store.start(shape, "the test");
  ASSERT_TRUE(store.wait(shape, {}));
  EXPECT_EQ(store.state(shape), ProgramState::kReady);
  EXPECT_EQ(calls, 3);
  // A wait for what is there, or for what a helper cannot help with, ends as without one.
  EXPECT_TRUE(store.wait(shape, {}));
}

TEST(HelperTest, AWaitThatIsStoppedLeavesTheHelperFree) {
  const auto script = std::make_shared<FakeScript>();
  std::stop_source stop;
  script->compile_cost = [&](const graph::ProgramShape&, std::size_t) {
    stop.request_stop();
    return std::chrono::nanoseconds(0);
  };
  const SteadyClock clock;
  ThreadExecutor executor{{}};
  ThreadExecutor helper{{}};
  ProgramStore store({.backend = std::make_shared<FakeBackend>(FakeBackend::Options{}, script),
                      .device = "FAKE",
                      .helper = &helper},
                     executor, clock);
  for (const std::int64_t rung : {16, 32}) {
    const graph::ProgramShape shape{.rung = rung};
    store.start(shape, "the test");
    static_cast<void>(store.wait(shape, stop.get_token()));
    EXPECT_TRUE(store.wait(shape, {}));
    EXPECT_EQ(store.state(shape), ProgramState::kReady);
  }
}

TEST(HelperTest, ManyWaitsThatAreStoppedLeaveOneTaskWithTheHelper) {
  const auto script = std::make_shared<FakeScript>();
  std::latch open(1);
  script->compile_cost = [&](const graph::ProgramShape&, std::size_t) {
    open.wait();
    return std::chrono::nanoseconds(0);
  };
  const SteadyClock clock;
  ThreadExecutor executor{{}};
  ThreadExecutor helper{{.queue_bound = 2}};
  ProgramStore store(
      {.backend = std::make_shared<FakeBackend>(FakeBackend::Options{.cut = true}, script),
       .device = "FAKE",
       .helper = &helper},
      executor, clock);
  const graph::ProgramShape shape{.rung = 16};
  store.start(shape, "the test");
  std::stop_source stopped;
  stopped.request_stop();
  for (int wait = 0; wait < 40; ++wait) EXPECT_FALSE(store.wait(shape, stopped.get_token()));
  open.count_down();
  EXPECT_TRUE(store.wait(shape, {}));
  EXPECT_EQ(store.state(shape), ProgramState::kReady);
}

}  // namespace
}  // namespace ahead::compile
