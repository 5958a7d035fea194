// Tests of the closing summary. May use: include/ahead, GoogleTest.
#include "summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "wording.h"

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

RunResult result() {
  RunResult out;
  out.design = "mine";
  out.device = "CPU";
  out.axes.ladder = {64, 128};
  out.tokens.prompt = 12;
  out.tokens.generated = 60;
  out.tokens.by_rung = {{64, {.count = 52, .seconds = 2}}, {128, {.count = 8, .seconds = 0.5}}};
  out.time_s.ttft = 1.5;
  out.time_s.ttft_cold = 2.25;
  out.time_s.foreground_compile = 1.25;
  out.time_s.hidden_compile = 3.5;
  out.boundaries = {{.from = 64,
                     .to = 128,
                     .at_token = 64,
                     .ready = false,
                     .wait_s = 0.125,
                     .migration_s = 0.002,
                     .copied_bytes = 3 << 20}};
  out.memory.kv_reserved_avg_bytes = 3 << 20;
  out.memory.kv_reserved_peak_bytes = 6 << 20;
  out.finish_reason = FinishReason::kMaxTokens;
  return out;
}

TEST(Summary, SaysWhatARunCost) {
  EXPECT_THAT(summary(result()),
              AllOf(HasSubstr("mine: ladder 64,128"), HasSubstr("12 prompt, 60 generated"),
                    HasSubstr("ended by max_tokens"), HasSubstr("1.500 s"), HasSubstr("2.250 s"),
                    HasSubstr("1.250 s foreground, 3.500 s hidden"), HasSubstr("26.0"),
                    HasSubstr("16.0"), HasSubstr("64 -> 128"), HasSubstr("0.125 s"),
                    HasSubstr("3.0 MiB average, 6.0 MiB peak")));
}

TEST(Summary, AxesWithoutAPresetAreCustom) {
  RunResult custom = result();
  custom.design.clear();
  EXPECT_THAT(summary(custom), HasSubstr("custom: ladder"));
}

TEST(Summary, AnEmptyRunHasNoTablesAndNoNonsense) {
  RunResult empty;
  empty.axes.ladder = {64};
  empty.tokens.by_rung = {{64, {}}};
  EXPECT_THAT(summary(empty),
              AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")), Not(HasSubstr("->"))));
}

TEST(VerifyTable, HasARowForEachBoundaryAndTheVerdict) {
  VerifyReport report;
  report.passed = true;
  report.boundaries = {{.from = 64,
                        .to = 128,
                        .at_token = 64,
                        .expected = 16,
                        .compared = 16,
                        .top1_equal = 16,
                        .min_cosine = 0.99999,
                        .passed = true}};
  EXPECT_THAT(verify_table(report), AllOf(HasSubstr("64 -> 128"), HasSubstr("16/16"),
                                          HasSubstr("0.99999000"), HasSubstr("passed")));
  report.passed = false;
  report.boundaries[0].top1_equal = 15;
  report.boundaries[0].passed = false;
  EXPECT_THAT(verify_table(report), AllOf(HasSubstr("15/16"), HasSubstr("FAILED")));
  EXPECT_THAT(verify_failure(report), AllOf(HasSubstr("64 -> 128"), HasSubstr("15 of 16")));
}

TEST(VerifyTable, ABoundaryWithNothingRecordedIsNotCalledADifference) {
  VerifyReport report;
  report.note = "no step was recorded at the boundary 64 -> 128";
  report.boundaries = {{.from = 64, .to = 128, .min_cosine = 1}};
  EXPECT_THAT(verify_table(report), AllOf(HasSubstr("0/0"), HasSubstr("FAILED")));
  EXPECT_THAT(verify_failure(report),
              AllOf(HasSubstr("no step was recorded"), Not(HasSubstr("differs"))));
}

TEST(VerifyTable, WithoutABoundaryItSaysSo) {
  VerifyReport report;
  report.passed = true;
  report.note = "no boundary was crossed";
  EXPECT_THAT(verify_table(report), AllOf(HasSubstr("no boundary"), HasSubstr("passed")));
}

TEST(Wording, Units) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1536), "1.5 KiB");
  EXPECT_EQ(bytes(std::int64_t{5} << 50U), "5120.0 TiB");
  EXPECT_EQ(seconds(1.25), "1.250 s");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN(), 1), "-");
  EXPECT_EQ(right("ab", 4), "  ab");
  EXPECT_EQ(left("ab", 4), "ab  ");
  EXPECT_EQ(right("abcde", 4), "abcde");
}

}  // namespace
}  // namespace ahead::cli
