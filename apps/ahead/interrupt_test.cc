// Tests of signals as a stop token. May use: GoogleTest, POSIX.
#include "interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <stop_token>

namespace ahead::cli {
namespace {

// True once `token` is requested to stop; false when that takes too long.
bool comes_to_stop(const std::stop_token& token) {
  std::promise<void> stopped;
  const std::stop_callback callback(token, [&] { stopped.set_value(); });
  return stopped.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
}

TEST(InterruptWatch, TheFirstSignalRequestsAStop) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);
    const InterruptWatch watch;
    EXPECT_FALSE(watch.token().stop_requested());
    ASSERT_EQ(::kill(::getpid(), signal), 0);
    EXPECT_TRUE(comes_to_stop(watch.token())) << signal;
  }
}

TEST(InterruptWatchDeathTest, TheSecondSignalEndsTheProgram) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        const InterruptWatch watch;
        ::kill(::getpid(), SIGINT);
        if (comes_to_stop(watch.token())) {
          ::kill(::getpid(), SIGINT);
          ::pause();
        }
      },
      testing::ExitedWithCode(130), "");
}

TEST(InterruptWatch, ASignalThatWasIgnoredStaysIgnored) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  const InterruptWatch watch;
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  EXPECT_FALSE(watch.token().stop_requested());
  // The watch reads signals in order: had it taken the first, this one would end the program.
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  EXPECT_TRUE(comes_to_stop(watch.token()));
}

TEST(InterruptWatch, EndsWithoutASignalAndGivesTheMaskBack) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  { const InterruptWatch watch; }
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

}  // namespace
}  // namespace ahead::cli
