// Where a request begins and where it goes at a late boundary. May use: base, GoogleTest.
#include "plan/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ahead::plan {
namespace {

using testing::HasSubstr;

Estimate seconds(double typical) { return {typical, 2 * typical, Source::kMeasured}; }

/// Through the decode program: 0.5 s to compile, 40 ms a token.
StartCost through_decode() {
  return {.start = {1024, 1}, .prefill_compile = seconds(0.5), .chunk_s = 0.04};
}
/// In chunks: 0.8 s to compile, 0.3 s a chunk of 32, and decode behind it.
StartCost in_chunks() {
  return {.start = {1024, 32},
          .prefill_compile = seconds(0.8),
          .decode_compile = seconds(0.5),
          .chunk_s = 0.3};
}

TEST(ChooseStartTest, AShortPromptGoesThroughTheDecodeProgram) {
  const StartDecision decision = choose_start(5, {in_chunks(), through_decode()});
  EXPECT_EQ(decision.start.chunk, 1);
  EXPECT_DOUBLE_EQ(decision.first_token_s, 0.7);
  EXPECT_EQ(decision.reason,
            "a prompt of 5 tokens goes through the decode program: first token in 0.7 s against "
            "1.1 s in chunks of 32");
}

TEST(ChooseStartTest, ALongPromptGoesInChunks) {
  const StartDecision decision = choose_start(128, {in_chunks(), through_decode()});
  EXPECT_EQ(decision.start.chunk, 32);
  EXPECT_DOUBLE_EQ(decision.first_token_s, 2);
  EXPECT_THAT(decision.reason, HasSubstr("in chunks of 32: first token in 2 s against 5.6 s"));
}

TEST(ChooseStartTest, AStartedChunkIsAWholeOne) {
  EXPECT_DOUBLE_EQ(choose_start(32, {in_chunks()}).first_token_s, 1.1);
  EXPECT_DOUBLE_EQ(choose_start(33, {in_chunks()}).first_token_s, 1.4);
}

TEST(ChooseStartTest, TheFirstChunksExtraCountsOnce) {
  StartCost cost = in_chunks();
  cost.first_chunk_extra_s = 0.25;
  EXPECT_DOUBLE_EQ(choose_start(64, {cost}).first_token_s, 1.65);
}

TEST(ChooseStartTest, AmongFirstTokensAboutAsSoonTheSecondDecides) {
  StartCost chunks = in_chunks();
  chunks.decode_compile = seconds(2);  // second token possible after 2.8 s
  StartCost decode = through_decode();
  decode.chunk_s = 0.125;  // first token after 1.125 s against 1.1 s, and the second
  const StartDecision decision = choose_start(5, {chunks, decode});
  EXPECT_EQ(decision.start.chunk, 1);
  EXPECT_THAT(decision.reason,
              HasSubstr("first token in 1.1 s and the second possible in 1.1 s, against 1.1 s and "
                        "2.8 s in chunks of 32"));
  decode.chunk_s = 0.15;  // 1.25 s: too much later
  EXPECT_EQ(choose_start(5, {chunks, decode}).start.chunk, 32);
}

TEST(ChooseStartTest, DecodeCompilesWhileThePromptIsRead) {
  StartCost hidden = in_chunks();
  hidden.start.rung = 2048;  // would lose every tie
  StartCost visible = in_chunks();
  visible.decode_compile = seconds(0.65);  // longer than the chunks of 64 tokens
  EXPECT_EQ(choose_start(64, {visible, hidden}).start.rung, 2048);
  visible.decode_compile = seconds(0.6);
  EXPECT_EQ(choose_start(64, {visible, hidden}).start.rung, 1024);
}

TEST(ChooseStartTest, TiesGoToCheaperDecodingThenTheSmallerRungThenTheLargerChunk) {
  StartCost a = in_chunks();
  StartCost b = in_chunks();
  a.decode_extra_s = 1;
  b.start.rung = 4096;
  EXPECT_EQ(choose_start(20, {a, b}).start.rung, 4096);
  a.decode_extra_s = 0;
  EXPECT_EQ(choose_start(20, {b, a}).start.rung, 1024);
  b.start = {1024, 64};
  EXPECT_EQ(choose_start(20, {a, b}).start.chunk, 64);
}

TEST(ChooseStartTest, ARungThatIsThereIsNamed) {
  StartCost there = in_chunks();
  there.start.rung = 2048;
  there.prefill_compile = seconds(0);
  there.decode_compile = seconds(0);
  EXPECT_THAT(choose_start(20, {in_chunks(), there}).reason,
              HasSubstr("in chunks of 32 on rung 2048: first token in 0.3 s against 1.1 s in "
                        "chunks of 32 on rung 1024"));
}

TEST(ChooseStartDeathTest, NoWayToStartIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(choose_start(5, {})), "a way to start");
  EXPECT_DEATH(static_cast<void>(choose_start(0, {in_chunks()})), "at least one token");
}

/// The successor takes 2 s; 4096 is there, and a token costs 1 ms more on it.
BoundaryChoice late_successor() {
  return {.options = {{2048, Status::kCompiling, seconds(2), 0.020, 1000},
                      {4096, Status::kReady, seconds(9), 0.021, 3000}}};
}

TEST(ChooseRungTest, ALargerOneThatIsReadySavesTheWait) {
  const RungDecision decision = choose_rung(late_successor());
  EXPECT_EQ(decision.rung, 4096);
  EXPECT_THAT(decision.reason, HasSubstr("rung 4096 directly saves 1 s: waiting 0 s instead of "
                                         "2 s, at 1 s more over 1000 tokens"));
}

TEST(ChooseRungTest, NotWhereItsSlowerStepsCostMore) {
  BoundaryChoice choice = late_successor();
  choice.options[1].token_s = 0.025;
  const RungDecision decision = choose_rung(choice);
  EXPECT_EQ(decision.rung, 2048);
  EXPECT_THAT(decision.reason, HasSubstr("would not pay, waiting 0 s instead of 2 s, at 5 s more"));
}

TEST(ChooseRungTest, NotForLittle) {
  BoundaryChoice choice = late_successor();
  choice.options[1].token_s = 0.02192;  // saves 80 ms: 4 %
  EXPECT_EQ(choose_rung(choice).rung, 2048);
  choice.options[0].compile = seconds(0.04);  // saves all of 40 ms
  choice.options[1].token_s = 0.020;
  EXPECT_EQ(choose_rung(choice).rung, 2048);
}

TEST(ChooseRungTest, OfSeveralTheCheapest) {
  BoundaryChoice choice = late_successor();
  choice.options.push_back({8192, Status::kAbsent, seconds(0.5), 0.0201, 9000});
  EXPECT_EQ(choose_rung(choice).rung, 8192);
}

TEST(ChooseRungTest, NeverOneThatFailed) {
  BoundaryChoice choice = late_successor();
  choice.options[1].status = Status::kFailed;
  const RungDecision decision = choose_rung(choice);
  EXPECT_EQ(decision.rung, 2048);
  EXPECT_THAT(decision.reason, HasSubstr("rung 2048 takes 2 s, and none is behind it"));
}

TEST(ChooseRungTest, ASuccessorThatFailedIsWhereTheErrorComesOut) {
  BoundaryChoice choice = late_successor();
  choice.options[0].status = Status::kFailed;
  const RungDecision decision = choose_rung(choice);
  EXPECT_EQ(decision.rung, 2048);
  EXPECT_EQ(decision.reason, "rung 2048 failed");
}

TEST(ChooseRungTest, ALargerOneIsNeverTakenForFasterSteps) {
  BoundaryChoice choice = late_successor();
  choice.options[1] = {4096, Status::kAbsent, seconds(2), 0.010, 3000};
  EXPECT_EQ(choose_rung(choice).rung, 2048);
}

TEST(ChooseRungTest, AReadySuccessorIsTaken) {
  BoundaryChoice choice = late_successor();
  choice.options[0].status = Status::kReady;
  choice.options[1].token_s = 0.001;
  EXPECT_EQ(choose_rung(choice).rung, 2048);
}

TEST(ChooseRungDeathTest, NoOptionIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(choose_rung({})), "has a successor");
}

}  // namespace
}  // namespace ahead::plan
