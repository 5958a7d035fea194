// What ran out, told where no words tell it.
#include "base/shortage_error.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

std::string told(const std::exception& cause, std::uint64_t bytes) {
  try {
    throw_if_short(cause, "it cannot be read", bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    return error.what();
  }
  return "";
}

TEST(ShortageError, NamesWhatCouldNotBeDoneAndTheRemedy) {
  const std::string text = told(std::bad_alloc(), 0);
  EXPECT_EQ(text.find("it cannot be read: memory ran out"), 0U) << text;
}

TEST(ShortageError, OtherCausesAreLeftToTheCaller) {
  EXPECT_EQ(told(std::runtime_error("unknown operation"), 1 << 20), "");
}

TEST(ShortageError, MemoryThatIsNotToBeHadIsACauseThoughTheWordsSayNothing) {
  constexpr std::uint64_t kNoMachineHas = std::uint64_t{1} << 60;
  EXPECT_FALSE(has_room_for(kNoMachineHas));
  EXPECT_TRUE(has_room_for(1 << 20));
  EXPECT_NE(told(std::runtime_error("Check 'm_ptr' failed"), kNoMachineHas), "");
}

TEST(ShortageError, PreparingIsDoneOnceAndQuietly) {
  prepare_exceptions();
  prepare_exceptions();
}

}  // namespace
}  // namespace ahead
