// Virtual time by hand. May use: base, GoogleTest.
#include "sim/timeline.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ahead::sim {
namespace {

using std::chrono::nanoseconds;

/// A timeline whose tasks cost `cost` each; none: they have no end.
struct World {
  std::optional<nanoseconds> cost = nanoseconds(10);
  std::vector<TimePoint> ends;
  std::function<bool()> on_stuck = [] { return false; };
  Timeline timeline{{.on_post = [] { return std::size_t{0}; },
                     .on_begin = [this](std::size_t) { return cost; },
                     .on_end = [this](std::size_t) { ends.push_back(timeline.now()); },
                     .on_stuck = [this] { return on_stuck(); },
                     .on_wait = [](bool) {}}};
};

TEST(TimelineTest, ATaskEndsAtItsOwnTimeWhateverTheStepTakes) {
  World world;
  world.timeline.post([] {});
  world.timeline.advance(nanoseconds(9));
  EXPECT_TRUE(world.ends.empty());
  world.timeline.advance(nanoseconds(100));
  EXPECT_EQ(world.ends, std::vector{TimePoint(10)});
  EXPECT_EQ(world.timeline.now(), TimePoint(109));
}

TEST(TimelineTest, ATaskEndsInAStepThatEndsWithIt) {
  World world;
  world.timeline.post([] {});
  world.timeline.advance(nanoseconds(10));
  EXPECT_EQ(world.ends.size(), 1U);
}

TEST(TimelineTest, TasksFollowOneAnother) {
  World world;
  world.timeline.post([] {});
  world.timeline.advance(nanoseconds(3));
  world.timeline.post([] {});
  world.timeline.advance(nanoseconds(100));
  EXPECT_EQ(world.ends, (std::vector{TimePoint(10), TimePoint(20)}));
}

TEST(TimelineTest, ATaskSeesItsOwnTime) {
  World world;
  std::vector<TimePoint> seen;
  world.timeline.post([&] {
    seen.push_back(world.timeline.now());
    world.timeline.spend_task();
    seen.push_back(world.timeline.now());
  });
  world.timeline.advance(nanoseconds(100));
  EXPECT_EQ(seen, (std::vector{TimePoint(0), TimePoint(10)}));
}

TEST(TimelineTest, AWaitTakesTillTheTaskEndsAndIsCounted) {
  World world;
  bool done = false;
  world.timeline.post([&] { done = true; });
  world.timeline.advance(nanoseconds(4));
  EXPECT_TRUE(world.timeline.wait({}, [&] { return done; }));
  EXPECT_EQ(world.timeline.now(), TimePoint(10));
  EXPECT_EQ(world.timeline.waited(), nanoseconds(6));
}

TEST(TimelineTest, AnAlarmEndsAWaitForWhatNeverEnds) {
  World world{.cost = std::nullopt};
  std::stop_source source;
  world.timeline.post([] {});
  world.timeline.set_alarm(TimePoint(7), [&] { source.request_stop(); });
  EXPECT_FALSE(world.timeline.wait(source.get_token(), [] { return false; }));
  EXPECT_EQ(world.timeline.now(), TimePoint(7));
}

TEST(TimelineTest, AWaitForNothingIsToldOf) {
  World world{.cost = std::nullopt};
  world.timeline.post([] {});
  EXPECT_FALSE(world.timeline.wait({}, [] { return false; }));
}

TEST(TimelineTest, WhatHasNoEndCanBeGivenOne) {
  World world{.cost = std::nullopt};
  bool done = false;
  world.on_stuck = [&] {
    world.timeline.end_running(TimePoint(5));
    return true;
  };
  world.timeline.post([&] { done = true; });
  EXPECT_TRUE(world.timeline.wait({}, [&] { return done; }));
  EXPECT_EQ(world.timeline.now(), TimePoint(5));
}

TEST(TimelineTest, WhatIsDroppedNeverRuns) {
  World world;
  bool ran = false;
  world.timeline.post([&] { ran = true; });
  world.timeline.drop();
  world.timeline.advance(nanoseconds(100));
  EXPECT_FALSE(ran);
  EXPECT_EQ(world.timeline.queued(), 0U);
}

}  // namespace
}  // namespace ahead::sim
