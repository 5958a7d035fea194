// What is said of what was thrown. May use: GoogleTest, POSIX.
#include "failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Failure, AShortageHasARemedyThatFits) {
  EXPECT_THAT(failure_text(std::bad_alloc()), HasSubstr("ulimit -v"));
  EXPECT_THAT(failure_text(std::system_error(EAGAIN, std::generic_category())),
              AllOf(HasSubstr("Resource temporarily unavailable"), HasSubstr("ulimit -u")));
  EXPECT_EQ(failure_text(std::runtime_error("x")), "x");
  EXPECT_EQ(failure_text(Error(ErrorKind::kOutOfMemory, "Cannot allocate memory; take less")),
            "Cannot allocate memory; take less");
}

TEST(FailureDeathTest, AThreadThatCannotBeStartedIsNoCrash) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto end_by = [](auto error) {
    report_what_nobody_catches();
    std::thread([&] { throw error; }).join();
  };
  EXPECT_EXIT(end_by(std::system_error(EAGAIN, std::generic_category())),
              testing::ExitedWithCode(kExitFailed), "ahead: error: .*ulimit -u");
  EXPECT_EXIT(end_by(std::logic_error("a bug")), testing::KilledBySignal(SIGABRT),
              "ahead: error: a bug");
}

}  // namespace
}  // namespace ahead::cli
