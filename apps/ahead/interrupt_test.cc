// Tests of signals as a stop token. May use: GoogleTest, POSIX.
#include "interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <stop_token>
#include <thread>
#include <vector>

namespace ahead::cli {
namespace {

// True once `token` is requested to stop; false when that takes too long.
bool comes_to_stop(const std::stop_token& token) {
  std::promise<void> stopped;
  const std::stop_callback callback(token, [&] { stopped.set_value(); });
  return stopped.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
}

// Every signal whose default is to end the process, but for faults, SIGPIPE and SIGXFSZ.
std::vector<int> ending_signals() {
  std::vector<int> signals = {SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,  SIGALRM,
                              SIGPROF, SIGVTALRM, SIGPOLL, SIGPWR,  SIGXCPU, SIGSTKFLT};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) signals.push_back(signal);
  return signals;
}

TEST(InterruptWatch, TheFirstSignalRequestsAStopWhicheverItIs) {
  for (const int signal : ending_signals()) {
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
        const InterruptWatch watch{std::chrono::milliseconds(0)};
        ::kill(::getpid(), SIGINT);
        if (comes_to_stop(watch.token())) {
          ::kill(::getpid(), SIGINT);
          ::pause();
        }
      },
      testing::ExitedWithCode(130), "");
}

bool is_pending(int signal) {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

// A terminal that goes away and timeout(1) send the same signal twice; a limit on CPU time sends
// its own again and again.
TEST(InterruptWatchDeathTest, WhatComesTwiceByItselfDoesNotEndTheProgram) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto survives = [](int signal, std::chrono::milliseconds same_moment) {
    std::signal(signal, SIG_DFL);
    {
      const InterruptWatch watch(same_moment);
      ::kill(::getpid(), signal);
      if (comes_to_stop(watch.token())) ::kill(::getpid(), signal);
      while (is_pending(signal)) std::this_thread::yield();
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(survives(SIGTERM, std::chrono::hours(1)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(survives(SIGHUP, std::chrono::milliseconds(0)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(survives(SIGXCPU, std::chrono::milliseconds(0)), testing::ExitedWithCode(0), "");
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
