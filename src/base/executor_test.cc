// The worker thread: order, bounds, waiting and ending. Latches order every thread; nothing sleeps.
// May use: std, GoogleTest.
#include "base/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "base/affinity.h"

namespace ahead {
namespace {

/// Never stopped.
const std::stop_token kNoStop;

bool never() { return false; }

/// Runs `last` when the last copy is gone.
std::shared_ptr<void> at_release(std::function<void()> last) {
  return {nullptr, [last = std::move(last)](void*) { last(); }};
}

/// Returns when everything posted before has run.
void drain(Executor& executor) {
  std::atomic<bool> reached = false;
  executor.post([&] { reached = true; });
  EXPECT_TRUE(executor.wait(kNoStop, [&] { return reached.load(); }));
}

TEST(ThreadExecutorTest, RunsTasksInTheOrderTheyWerePosted) {
  ThreadExecutor executor({});
  std::latch open(1);
  std::vector<int> order;
  executor.post([&] { open.wait(); });
  for (int i = 0; i < 10; ++i) executor.post([&, i] { order.push_back(i); });
  open.count_down();
  drain(executor);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ThreadExecutorTest, RunsAllTasksOnOneThreadThatIsNotTheCallers) {
  ThreadExecutor executor({});
  std::vector<std::thread::id> ids;
  for (int i = 0; i < 5; ++i) executor.post([&] { ids.push_back(std::this_thread::get_id()); });
  drain(executor);
  EXPECT_EQ(ids, std::vector(5, ids.at(0)));
  EXPECT_NE(ids[0], std::this_thread::get_id());
}

TEST(ThreadExecutorTest, TaskMayPost) {
  ThreadExecutor executor({});
  std::atomic<bool> second = false;
  executor.post([&] { executor.post([&] { second = true; }); });
  EXPECT_TRUE(executor.wait(kNoStop, [&] { return second.load(); }));
}

TEST(ThreadExecutorTest, TaskMayPostAsItIsDestroyed) {
  ThreadExecutor executor({});
  std::atomic<bool> second = false;
  executor.post([held = at_release([&] { executor.post([&] { second = true; }); })] {});
  EXPECT_TRUE(executor.wait(kNoStop, [&] { return second.load(); }));
}

TEST(ThreadExecutorTest, ManyProducersLoseNothingAndEachKeepsItsOrder) {
  constexpr int kProducers = 4;
  constexpr int kTasks = 250;
  ThreadExecutor executor({.queue_bound = kProducers * kTasks + 1});
  std::vector<std::vector<int>> order(kProducers);
  {
    std::barrier start(kProducers);
    std::vector<std::jthread> producers;
    for (int producer = 0; producer < kProducers; ++producer) {
      producers.emplace_back([&, producer] {
        start.arrive_and_wait();
        for (int i = 0; i < kTasks; ++i) {
          executor.post([&order, producer, i] { order[producer].push_back(i); });
        }
      });
    }
  }
  drain(executor);
  for (const std::vector<int>& mine : order) {
    ASSERT_EQ(mine.size(), std::size_t{kTasks});
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
  }
}

TEST(ThreadExecutorTest, WaitReturnsAtOnceWhenItIsDone) {
  ThreadExecutor executor({});
  EXPECT_TRUE(executor.wait(kNoStop, [] { return true; }));
}

TEST(ThreadExecutorTest, WaitEndsWithTheTaskThatBringsItAboutAndNotBefore) {
  ThreadExecutor executor({});
  std::latch asked(1);
  std::atomic<int> finished = 0;
  executor.post([&] {
    asked.wait();  // so that the first answer is no
    ++finished;
  });
  executor.post([&] { ++finished; });
  executor.post([&] { ++finished; });
  bool first = true;
  EXPECT_TRUE(executor.wait(kNoStop, [&] {
    if (std::exchange(first, false)) asked.count_down();
    return finished >= 2;
  }));
  EXPECT_GE(finished, 2);
}

TEST(ThreadExecutorTest, WaitReturnsFalseWhenStopIsRequestedMeanwhile) {
  ThreadExecutor executor({});
  std::stop_source source;
  std::latch waiting(1);
  std::jthread stopper([&] {
    waiting.wait();
    source.request_stop();
  });
  bool first = true;
  EXPECT_FALSE(executor.wait(source.get_token(), [&] {
    if (std::exchange(first, false)) waiting.count_down();
    return false;
  }));
}

TEST(ThreadExecutorTest, StopRequestDoesNotHideThatItIsDone) {
  ThreadExecutor executor({});
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(executor.wait(source.get_token(), never));
  EXPECT_TRUE(executor.wait(source.get_token(), [] { return true; }));
}

TEST(ThreadExecutorTest, StoppedWaitLeavesTheTaskRunning) {
  ThreadExecutor executor({});
  std::latch release(1);
  std::atomic<bool> finished = false;
  std::stop_source source;
  executor.post([&] {
    release.wait();
    finished = true;
  });
  source.request_stop();
  EXPECT_FALSE(executor.wait(source.get_token(), [&] { return finished.load(); }));
  EXPECT_FALSE(finished);
  release.count_down();
  EXPECT_TRUE(executor.wait(kNoStop, [&] { return finished.load(); }));
}

TEST(ThreadExecutorTest, EveryWaiterIsToldOfATask) {
  constexpr int kWaiters = 4;
  ThreadExecutor executor({});
  std::latch waiting(kWaiters);
  std::atomic<bool> reached = false;
  std::atomic<int> told = 0;
  executor.post([&] {
    waiting.wait();
    reached = true;
  });
  {
    std::vector<std::jthread> waiters;
    for (int i = 0; i < kWaiters; ++i) {
      waiters.emplace_back([&] {
        bool first = true;
        told += executor.wait(kNoStop, [&] {
          if (std::exchange(first, false)) {
            waiting.count_down();
            return false;
          }
          return reached.load();
        });
      });
    }
  }
  EXPECT_EQ(told, kWaiters);
}

TEST(ThreadExecutorTest, DoneMayTakeALockThatATaskHoldsWhileItPosts) {
  ThreadExecutor executor({.queue_bound = 4});
  std::mutex mutex;
  int left = 200;  // guarded by mutex
  std::function<void()> step = [&] {
    const std::lock_guard lock(mutex);
    if (--left > 0) executor.post(step);
  };
  executor.post(step);
  EXPECT_TRUE(executor.wait(kNoStop, [&] {
    const std::lock_guard lock(mutex);
    return left == 0;
  }));
}

TEST(ThreadExecutorTest, DestructionDropsWhatIsQueuedAndWaitsForWhatRuns) {
  std::latch running(1);
  std::latch dropped(1);
  bool finished = false;
  bool ran_queued = false;
  {
    ThreadExecutor executor({});
    executor.post([&] {
      running.count_down();
      dropped.wait();  // the queue goes while this still runs
      finished = true;
    });
    executor.post([&, held = at_release([&] { dropped.count_down(); })] { ran_queued = true; });
    running.wait();
  }
  EXPECT_TRUE(finished);
  EXPECT_FALSE(ran_queued);
}

TEST(ThreadExecutorTest, DroppedTaskMayPostAsItIsDestroyed) {
  std::latch running(1);
  std::latch dropped(1);
  std::atomic<bool> ran = false;
  {
    ThreadExecutor executor({});
    executor.post([&] {
      running.count_down();
      dropped.wait();
    });
    executor.post([held = at_release([&] {
                     executor.post([&] { ran = true; });
                     dropped.count_down();
                   })] {});
    running.wait();
  }
  EXPECT_FALSE(ran);
}

TEST(ThreadExecutorTest, DestructionOfAnIdleExecutorEnds) {
  const ThreadExecutor unused({});
  ThreadExecutor used({});
  drain(used);
}

TEST(ThreadExecutorTest, WorkerIsPinnedAndItsCreatorIsNot) {
  const std::vector<int> before = allowed_cores();
  const std::vector<int> last = {before.back()};
  std::vector<int> seen;
  ThreadExecutor executor({.cores = last});
  EXPECT_EQ(allowed_cores(), before);
  executor.post([&] { seen = allowed_cores(); });
  drain(executor);
  EXPECT_EQ(seen, last);
}

TEST(ThreadExecutorTest, CoresThatCannotBeUsedAreTheCallersError) {
  const std::vector<int> before = allowed_cores();
  try {
    ThreadExecutor executor({.cores = {1022, 1023}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("1022,1023"), std::string::npos) << error.what();
  }
  EXPECT_EQ(allowed_cores(), before);
}

TEST(ThreadExecutorDeathTest, PostingBeyondTheBoundIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadExecutor executor({.queue_bound = 2});
        std::latch running(1);
        std::latch forever(1);
        executor.post([&] {
          running.count_down();
          forever.wait();
        });
        running.wait();  // it left the queue
        executor.post([] {});
        executor.post([] {});
        std::fputs("both fit; ", stderr);
        executor.post([] {});
      },
      "both fit; .*queue is full");
}

}  // namespace
}  // namespace ahead
