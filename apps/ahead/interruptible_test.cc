// Tests of work that a caller need not wait for. May use: GoogleTest.
#include "interruptible.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>

#include "tether.h"

namespace ahead::cli {
namespace {

TEST(UnlessStopped, GivesWhatTheWorkGivesOrThrows) {
  EXPECT_EQ(unless_stopped({}, [owned = std::make_unique<int>(7)] { return *owned; }), 7);
  EXPECT_THROW((void)unless_stopped({}, []() -> int { throw std::out_of_range("x"); }),
               std::out_of_range);
}

TEST(UnlessStopped, AStopComesBackThoughTheWorkNeverEnds) {
  std::stop_source stop;
  std::promise<void> end;
  std::promise<void> ended;
  const auto value =
      unless_stopped(stop.get_token(), [&stop, may_end = end.get_future(), &ended]() mutable {
        stop.request_stop();
        may_end.wait();
        ended.set_value();
        return 7;
      });
  EXPECT_FALSE(value.has_value());
  end.set_value();
  ended.get_future().wait();
}

TEST(UnlessStopped, WorkThatHearsOfTheStopIsWaitedFor) {
  std::stop_source stop;
  const auto value = unless_stopped(stop.get_token(),
                                    [&stop, token = stop.get_token()] {
                                      stop.request_stop();
                                      return token.stop_requested() ? 7 : 0;
                                    },
                                    {.patience = std::chrono::hours(1)});
  EXPECT_EQ(value, 7);
}

TEST(UnlessStopped, WorkThatMayNotBeLeftIsWaitedFor) {
  std::stop_source stop;
  std::promise<void> asked;
  const auto value = unless_stopped(stop.get_token(),
                                    [&stop, may_end = asked.get_future()]() mutable {
                                      stop.request_stop();
                                      may_end.wait();
                                      return 7;
                                    },
                                    {.may = [&asked] {
                                      asked.set_value();
                                      return false;
                                    }});
  EXPECT_EQ(value, 7);
}

TEST(Tether, NothingComesThroughOnceItIsCut) {
  Tether tether;
  int calls = 0;
  EXPECT_TRUE(tether.through([&] { ++calls; }));
  EXPECT_TRUE(tether.cut());
  EXPECT_FALSE(tether.through([&] { ++calls; }));
  EXPECT_EQ(calls, 1);
}

TEST(Tether, IsNotCutWhereSomethingWouldBeLost) {
  Tether tether;
  EXPECT_TRUE(tether.through([&] { tether.hold(); }));
  EXPECT_FALSE(tether.cut());
  EXPECT_TRUE(tether.through([] {}));
}

}  // namespace
}  // namespace ahead::cli
