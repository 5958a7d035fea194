// Tests of what a waiting person is told. May use: include/ahead, GoogleTest.
#include "progress_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Progress compile(Progress::Kind kind, std::int64_t rung, bool foreground) {
  return {.kind = kind,
          .program = "decode",
          .rung = rung,
          .foreground = foreground,
          .seconds = kind == Progress::Kind::kCompileEnd ? 4.5 : 0};
}

Progress token(std::int64_t count, std::int64_t rung) {
  return {.kind = Progress::Kind::kToken, .rung = rung, .tokens = count};
}

TEST(ProgressLines, SayWhatIsCompiledAndWhere) {
  ProgressState state;
  EXPECT_THAT(*apply(state, compile(Progress::Kind::kCompileBegin, 1024, true), 1),
              AllOf(HasSubstr("decode@1024"), Not(HasSubstr("background"))));
  EXPECT_THAT(*apply(state, compile(Progress::Kind::kCompileEnd, 1024, true), 5.5),
              AllOf(HasSubstr("decode@1024"), HasSubstr("4.500 s")));
  EXPECT_THAT(*apply(state, compile(Progress::Kind::kCompileBegin, 2048, false), 6),
              AllOf(HasSubstr("decode@2048"), HasSubstr("background")));
}

TEST(ProgressLines, ABackgroundCompileThatIsWaitedForIsOneCompile) {
  ProgressState state;
  (void)apply(state, compile(Progress::Kind::kCompileBegin, 128, false), 1);
  EXPECT_THAT(*apply(state, compile(Progress::Kind::kCompileBegin, 128, true), 3),
              HasSubstr("waiting for decode@128"));
  EXPECT_THAT(bar_line(state, 4, 80), HasSubstr("waiting for decode@128 3.0 s"));
  EXPECT_THAT(bar_line(state, 4, 80), Not(HasSubstr("compiling")));
  (void)apply(state, compile(Progress::Kind::kCompileEnd, 128, true), 5);
  EXPECT_TRUE(state.compiles.empty());
}

TEST(ProgressLines, CountTokensEveryTenSecondsOnly) {
  ProgressState state;
  EXPECT_FALSE(apply(state, token(1, 64), 1).has_value());
  EXPECT_FALSE(apply(state, token(2, 64), 10.9).has_value());
  const auto line = apply(state, token(101, 64), 11.0);
  ASSERT_TRUE(line.has_value());
  EXPECT_THAT(*line, AllOf(HasSubstr("101 tokens"), HasSubstr("10.0 tok/s")));
  EXPECT_FALSE(apply(state, token(102, 64), 12).has_value());
}

TEST(ProgressLines, SayWhenThePromptIsInAndWhereABoundaryLed) {
  ProgressState state;
  state.prompt_tokens = 300;
  EXPECT_FALSE(
      apply(state, {.kind = Progress::Kind::kPrefill, .rung = 512, .tokens = 128}, 1).has_value());
  EXPECT_THAT(*apply(state, {.kind = Progress::Kind::kPrefill, .rung = 512, .tokens = 300}, 2),
              HasSubstr("300 of 300"));
  EXPECT_THAT(*apply(state, {.kind = Progress::Kind::kBoundary, .rung = 1024, .seconds = 0.25}, 3),
              AllOf(HasSubstr("512 to 1024"), HasSubstr("0.250 s")));
}

TEST(ProgressBar, ShowsTheCompileThatIsWaitedForWithItsAge) {
  ProgressState state;
  (void)apply(state, compile(Progress::Kind::kCompileBegin, 1024, true), 1);
  EXPECT_THAT(bar_line(state, 3.5, 80), HasSubstr("waiting for decode@1024 2.5 s"));
  (void)apply(state, compile(Progress::Kind::kCompileEnd, 1024, true), 4);
  EXPECT_THAT(bar_line(state, 4, 80), Not(HasSubstr("decode@1024")));
}

TEST(ProgressBar, ShowsTheRungItsFillTheSpeedAndTheCompileBehind) {
  ProgressState state;
  state.prompt_tokens = 12;
  (void)apply(state, compile(Progress::Kind::kCompileBegin, 128, false), 1);
  (void)apply(state, token(1, 64), 1);
  (void)apply(state, token(20, 64), 2);
  EXPECT_THAT(bar_line(state, 2, 80),
              AllOf(HasSubstr("rung 64 [##########----------] 32 tokens"), HasSubstr("19.0 tok/s"),
                    HasSubstr("compiling decode@128 1.0 s")));
}

TEST(ProgressBar, FitsTheTerminal) {
  ProgressState state;
  state.phase = std::string(500, 'x');
  EXPECT_EQ(bar_line(state, 1, 39).size(), 39U);
  EXPECT_EQ(bar_line(state, 1, 0).size(), 0U);
}

TEST(TextColumns, AreKnownForPlainText) {
  TextColumn column;
  EXPECT_FALSE(column.line_open());
  EXPECT_TRUE(column.can_leave(10));
  column.write("123456789", 10);
  EXPECT_TRUE(column.line_open());
  EXPECT_TRUE(column.can_leave(10));
  column.write("0", 10);
  EXPECT_FALSE(column.can_leave(10)) << "behind the last column";
  column.write("1", 10);
  EXPECT_TRUE(column.can_leave(10)) << "wrapped";
  column.write("x\n", 10);
  EXPECT_FALSE(column.line_open());
}

TEST(TextColumns, AreUnknownBehindOtherCharactersUntilTheLineEnds) {
  for (const std::string& text : std::vector<std::string>{"a\xC3\xBC", "a\tb", "\x1b[31m"}) {
    TextColumn column;
    column.write(text, 80);
    EXPECT_TRUE(column.line_open());
    EXPECT_FALSE(column.can_leave(80)) << text;
    column.write("more\n", 80);
    EXPECT_TRUE(column.can_leave(80)) << text;
  }
}

TEST(ProgressState, ABatchIsCountedOutOfAllItsPrompts) {
  ProgressState state;
  Progress event{.kind = Progress::Kind::kPrefill,
                 .rung = 64,
                 .tokens = 11,
                 .prompt_tokens = 23,
                 .sequences = 2};
  EXPECT_EQ(apply(state, event, 11), "11 of 23 prompt tokens read");
  EXPECT_THAT(bar_line(state, 11, 80), HasSubstr("11 of 23"));
  event.kind = Progress::Kind::kToken;
  event.tokens = 5;
  (void)apply(state, event, 12);
  // The sequences' sum is in no rung.
  EXPECT_THAT(bar_line(state, 13, 80), AllOf(HasSubstr("2 sequences"), HasSubstr("5 tokens")));
  EXPECT_THAT(bar_line(state, 13, 80), Not(HasSubstr("rung")));
}

}  // namespace
}  // namespace ahead::cli
