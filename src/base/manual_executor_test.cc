// The hand-cranked executor: nothing runs until told to. May use: std, GoogleTest.
#include <gtest/gtest.h>

#include <stop_token>
#include <vector>

#include "base/executor.h"

namespace ahead {
namespace {

/// Never stopped.
const std::stop_token kNoStop;

bool never() { return false; }

TEST(ManualExecutorTest, RunsNothingUntilToldThenTheOldest) {
  ManualExecutor executor;
  std::vector<int> order;
  executor.post([&] { order.push_back(1); });
  executor.post([&] { order.push_back(2); });
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(executor.queued(), 2U);
  EXPECT_TRUE(executor.run_one());
  EXPECT_EQ(order, std::vector{1});
  EXPECT_TRUE(executor.run_one());
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_FALSE(executor.run_one());
}

TEST(ManualExecutorTest, WaitRunsNoMoreTasksThanItTakes) {
  ManualExecutor executor;
  int runs = 0;
  for (int i = 0; i < 5; ++i) executor.post([&] { ++runs; });
  EXPECT_TRUE(executor.wait(kNoStop, [&] { return runs == 2; }));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(executor.queued(), 3U);
  EXPECT_TRUE(executor.wait(kNoStop, [] { return true; }));
  EXPECT_EQ(runs, 2);
}

TEST(ManualExecutorTest, TaskMayPostAndIsQueuedBehind) {
  ManualExecutor executor;
  std::vector<int> order;
  executor.post([&] {
    executor.post([&] { order.push_back(3); });
    order.push_back(1);
  });
  executor.post([&] { order.push_back(2); });
  EXPECT_TRUE(executor.wait(kNoStop, [&] { return order.size() == 3; }));
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(ManualExecutorTest, StopEndsAWaitBetweenTasks) {
  ManualExecutor executor;
  std::stop_source source;
  int runs = 0;
  executor.post([&] {
    ++runs;
    source.request_stop();
  });
  executor.post([&] { ++runs; });
  EXPECT_FALSE(executor.wait(source.get_token(), never));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(executor.queued(), 1U);
}

TEST(ManualExecutorDeathTest, WaitThatCanNeverEndIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ManualExecutor executor;
  executor.post([] {});
  EXPECT_DEATH(executor.wait(kNoStop, never), "no queued task can bring about");
}

TEST(ManualExecutorDeathTest, PostingBeyondTheBoundIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ManualExecutor executor(2);
  executor.post([] {});
  executor.post([] {});
  EXPECT_DEATH(executor.post([] {}), "queue is full");
}

}  // namespace
}  // namespace ahead
