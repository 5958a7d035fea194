// Tests of work that a caller need not wait for. May use: GoogleTest.
#include "interruptible.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>

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

}  // namespace
}  // namespace ahead::cli
