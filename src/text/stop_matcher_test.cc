// Tests of stop strings over a stream.
#include "text/stop_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ahead/error.h"

namespace ahead::text {
namespace {

/// Feeds `text` in pieces of `width` bytes and gives what came out, flushed unless stopped.
std::string run(StopMatcher& matcher, const std::string& text, std::size_t width) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += width)
    out += matcher.push(text.substr(at, width));
  if (!matcher.stopped()) out += matcher.flush();
  return out;
}

TEST(StopMatcher, WithoutStopStringsEverythingPassesAtOnce) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.push("abc"), "abc");
  EXPECT_EQ(matcher.flush(), "");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, HoldsBackWhatMayBeAStopStringAndReleasesIt) {
  StopMatcher matcher({"User:"});
  EXPECT_EQ(matcher.push("a Us"), "a ");
  EXPECT_EQ(matcher.push("er"), "");
  EXPECT_EQ(matcher.push(" b"), "User b");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, EndsBeforeTheStopString) {
  StopMatcher matcher({"User:"});
  EXPECT_EQ(matcher.push("a Us"), "a ");
  EXPECT_EQ(matcher.push("er: b"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.push("more"), "");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, FlushGivesWhatTurnedOutNotToBeAStopString) {
  StopMatcher matcher({"###"});
  EXPECT_EQ(matcher.push("x##"), "x");
  EXPECT_EQ(matcher.flush(), "##");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, OverlappingBeginningsAreFollowed) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(run(matcher, "aaab!", 1), "a");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcher, TheMatchThatEndsFirstCountsHoweverTheTextIsCut) {
  const std::string text = "0123 xabcy \n\nzz";
  const std::vector<std::vector<std::string>> cases = {
      {"abc", "b"}, {"b", "abc"}, {"c", "abc"}, {"abc", "bc"}, {"\n\n", "zz"}, {"y \n\nz", "\n"}};
  const std::vector<std::string> expected = {"0123 xa", "0123 xa",     "0123 x",
                                             "0123 x",  "0123 xabcy ", "0123 xabcy "};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t width = 1; width <= text.size(); ++width) {
      StopMatcher matcher(cases[i]);
      EXPECT_EQ(run(matcher, text, width), expected[i]) << "case " << i << " width " << width;
      EXPECT_TRUE(matcher.stopped());
    }
  }
}

TEST(StopMatcher, NeverCutsACharacter) {
  StopMatcher matcher({"\xE4\xBD\xA0\xE5\xA5\xBD"});
  EXPECT_EQ(matcher.push("a\xE4\xBD\xA0"), "a");
  EXPECT_EQ(matcher.push("\xE4\xBD\xA0"), "\xE4\xBD\xA0");
  EXPECT_EQ(matcher.push("b"),
            "\xE4\xBD\xA0"
            "b");
}

TEST(StopMatcher, RefusesWhatCannotBeMatched) {
  for (const char* stop : {"", "\xBD"}) {
    try {
      StopMatcher matcher({"ok", stop});
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace ahead::text
