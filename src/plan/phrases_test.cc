// How reasons show numbers. May use: base, GoogleTest.
#include "plan/phrases.h"

#include <gtest/gtest.h>

#include <limits>

namespace ahead::plan {
namespace {

TEST(PhrasesTest, SecondsHaveTwoOrThreeDigits) {
  EXPECT_EQ(in_seconds(0), "0 s");
  EXPECT_EQ(in_seconds(0.4), "0.4 s");
  EXPECT_EQ(in_seconds(3.21), "3.2 s");
  EXPECT_EQ(in_seconds(12.34), "12.3 s");
  EXPECT_EQ(in_seconds(1234.5), "1234 s");
}

TEST(PhrasesTest, LittleTimeIsInMilliseconds) {
  EXPECT_EQ(in_seconds(0.0123), "12 ms");
  EXPECT_EQ(in_seconds(0.00456), "4.6 ms");
}

TEST(PhrasesTest, NoNumberHasAnExponent) {
  for (double seconds = 1e-9; seconds < 1e9; seconds *= 1.003) {
    EXPECT_EQ(in_seconds(seconds).find('e'), std::string::npos) << in_seconds(seconds);
  }
}

TEST(PhrasesTest, AnEndlessTimeIsUnknown) {
  EXPECT_EQ(in_seconds(std::numeric_limits<double>::infinity()), "an unknown time");
}

TEST(PhrasesTest, BytesAreInMegabytesAndTokensAreCounted) {
  EXPECT_EQ(in_megabytes(340'000'000), "340 MB");
  EXPECT_EQ(in_tokens(1), "1 token");
  EXPECT_EQ(in_tokens(1840.7), "1840 tokens");
}

TEST(Phrases, CoresMayBeAShare) {
  EXPECT_EQ(in_cores(1), "1 core");
  EXPECT_EQ(in_cores(1.5), "1.5 cores");
  EXPECT_EQ(in_cores(64), "64 cores");
}

}  // namespace
}  // namespace ahead::plan
