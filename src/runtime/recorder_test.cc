// The sums, averages and spans of a request, from a scripted clock. May use: base, compile's log,
// GoogleTest.
#include "runtime/recorder.h"

#include <gtest/gtest.h>

#include <array>

#include <chrono>
#include <string>
#include <vector>

namespace ahead::runtime {
namespace {

using graph::ProgramShape;
using std::chrono::milliseconds;

constexpr double kExact = 1e-12;
constexpr ProgramShape kDecode32{.rung = 32};
constexpr ProgramShape kDecode64{.rung = 64};
constexpr ProgramShape kPrefill32{.tokens = 16, .rung = 32};

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() { clock_.advance(milliseconds(1000)); }

  /// A decode step of a millisecond.
  void step(Recorder& recorder, std::int64_t rung) {
    const TimePoint begin = clock_.now();
    clock_.advance(milliseconds(1));
    recorder.stepped(begin, {.rung = rung}, std::array{rung});
  }

  [[nodiscard]] std::vector<TraceEvent> events(const std::string& row, bool counter = false) const {
    std::vector<TraceEvent> found;
    for (const TraceEvent& event : result_.trace) {
      if (event.row == row && event.counter == counter) found.push_back(event);
    }
    return found;
  }

  ManualClock clock_;
  RunResult result_;
};

TEST_F(RecorderTest, TimeCountsFromTheRequestsBegin) {
  const Recorder recorder(clock_, result_);
  EXPECT_NEAR(recorder.since_begin(milliseconds(1250)), 0.25, kExact);
  EXPECT_EQ(recorder.now(), milliseconds(1000));
}

// A device packs weights and makes kernels in the first run of a program.
TEST_F(RecorderTest, WhatFirstRunsTakeBeyondTheOthersIsTold) {
  Recorder recorder(clock_, result_);
  const auto run = [&](int took_ms, const ProgramShape& shape) {
    const TimePoint begin = clock_.now();
    clock_.advance(milliseconds(took_ms));
    if (shape.tokens == 1) {
      recorder.stepped(begin, shape, std::array{shape.rung});
    } else {
      recorder.prefilled(begin, shape, shape.tokens);
    }
  };
  for (const int took_ms : {230, 60, 61, 59}) run(took_ms, kPrefill32);
  run(500, {.tokens = 64, .rung = 64});  // once: nobody knows what of it was the first run's
  for (const int took_ms : {9, 7, 8}) run(took_ms, kDecode32);
  for (const int took_ms : {5, 7}) run(took_ms, kDecode64);  // not slower than the others
  recorder.finish({});
  EXPECT_NEAR(result_.time_s.first_runs_prefill, 0.170, kExact);
  EXPECT_NEAR(result_.time_s.first_runs_decode, 0.001, kExact);
  EXPECT_NEAR(result_.time_s.prefill, 0.910, kExact) << "they stay a part of it";
}

TEST_F(RecorderTest, WaitsAreForegroundCompileOrBoundaryWait) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(30));
  recorder.waited({.shape = kPrefill32, .begin = milliseconds(1000)});
  clock_.advance(milliseconds(5));
  recorder.waited({.shape = kDecode64, .begin = milliseconds(1030), .at_boundary = true});
  EXPECT_NEAR(result_.time_s.foreground_compile, 0.030, kExact);
  EXPECT_NEAR(result_.time_s.boundary_wait, 0.005, kExact);
  const auto spans = events("device");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[1].name, "wait for decode@64");
  EXPECT_NEAR(spans[1].begin_s, 0.030, kExact);
  EXPECT_NEAR(spans[1].end_s, 0.035, kExact);
}

TEST_F(RecorderTest, FirstTokenCountsFromTheRequestAndColdFromTheLoad) {
  result_.time_s.load = 2;
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(250));
  recorder.first_token();
  EXPECT_NEAR(result_.time_s.ttft, 0.25, kExact);
  EXPECT_NEAR(result_.time_s.ttft_cold, 2.25, kExact);
}

TEST_F(RecorderTest, StepsAreSummedByRung) {
  Recorder recorder(clock_, result_);
  for (int i = 0; i < 3; ++i) step(recorder, 32);
  for (int i = 0; i < 2; ++i) step(recorder, 64);
  EXPECT_EQ(result_.tokens.by_rung.at(32).count, 3);
  EXPECT_NEAR(result_.tokens.by_rung.at(32).seconds, 0.003, kExact);
  EXPECT_EQ(result_.tokens.by_rung.at(64).count, 2);
  EXPECT_NEAR(result_.time_s.decode, 0.005, kExact);
}

TEST_F(RecorderTest, StepsAreDrawnInRunsThatEndWithTheirLastStep) {
  Recorder recorder(clock_, result_);
  for (int i = 0; i < 20; ++i) step(recorder, 32);
  clock_.advance(milliseconds(7));  // a wait
  recorder.waited({.shape = kDecode64, .begin = milliseconds(1020), .at_boundary = true});
  clock_.advance(milliseconds(2));  // a migration
  recorder.boundary({.from = 32, .to = 64, .migration_s = 0.002}, milliseconds(1027));
  step(recorder, 64);
  clock_.advance(milliseconds(5));
  recorder.finish({});
  const auto spans = events("device");
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].name, "decode@32");
  EXPECT_NEAR(spans[0].end_s, 0.016, kExact);
  EXPECT_EQ(spans[0].numbers[0].second, 16);
  EXPECT_EQ(spans[1].name, "decode@32");
  EXPECT_NEAR(spans[1].begin_s, 0.016, kExact);
  EXPECT_NEAR(spans[1].end_s, 0.020, kExact) << "the wait is not decoding";
  EXPECT_EQ(spans[1].numbers[0].second, 4);
  EXPECT_EQ(spans[2].name, "wait for decode@64");
  EXPECT_EQ(spans[3].name, "decode@64");
  EXPECT_NEAR(spans[3].begin_s, 0.029, kExact);
  EXPECT_NEAR(spans[3].end_s, 0.030, kExact);
}

TEST_F(RecorderTest, ABoundaryIsListedDrawnAndAddedToMigration) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(4));
  recorder.boundary(
      {.from = 32, .to = 64, .at_token = 32, .migration_s = 0.003, .copied_bytes = 4096},
      milliseconds(1001));
  ASSERT_EQ(result_.boundaries.size(), 1U);
  EXPECT_EQ(result_.boundaries[0].at_token, 32);
  EXPECT_NEAR(result_.time_s.migration, 0.003, kExact);
  const auto spans = events("kv");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].name, "32 to 64");
  EXPECT_NEAR(spans[0].begin_s, 0.001, kExact);
  EXPECT_NEAR(spans[0].end_s, 0.004, kExact);
  EXPECT_EQ(spans[0].numbers[0].second, 4096);
}

TEST_F(RecorderTest, MemoryIsAveragedOverTheTimeItWasHeld) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(500));  // no cache yet: not in the average
  recorder.memory({.reserved_bytes = 1000, .committed_bytes = 100});
  clock_.advance(milliseconds(30));
  recorder.memory({.reserved_bytes = 5000, .committed_bytes = 300});
  recorder.memory({.reserved_bytes = 3000, .committed_bytes = 200});
  clock_.advance(milliseconds(10));
  recorder.finish({});
  EXPECT_EQ(result_.memory.kv_reserved_avg_bytes, (1000 * 30 + 3000 * 10) / 40);
  EXPECT_EQ(result_.memory.kv_committed_avg_bytes, (100 * 30 + 200 * 10) / 40);
  EXPECT_EQ(result_.memory.kv_reserved_peak_bytes, 5000);
  EXPECT_EQ(result_.memory.kv_committed_peak_bytes, 300);
  EXPECT_EQ(events("kv", true).size(), 4U) << "a sample each, and one at the end";
}

TEST_F(RecorderTest, MemoryHeldForNoTimeIsItsOwnAverage) {
  Recorder recorder(clock_, result_);
  recorder.memory({.reserved_bytes = 1000, .committed_bytes = 100});
  recorder.finish({});
  EXPECT_EQ(result_.memory.kv_reserved_avg_bytes, 1000);
}

TEST_F(RecorderTest, ARequestWithoutACacheHasNoMemory) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(5));
  recorder.finish({});
  EXPECT_EQ(result_.memory.kv_reserved_avg_bytes, 0);
  EXPECT_TRUE(result_.trace.empty());
}

TEST_F(RecorderTest, CompilesThatOverlapTheRequestAreKept) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(100));
  recorder.finish({
      {.shape = kPrefill32,
       .reason = "long ago",
       .begin = milliseconds(10),
       .end = milliseconds(999)},
      {.shape = kDecode32,
       .reason = "before",
       .begin = milliseconds(980),
       .end = milliseconds(1020)},
      {.shape = kDecode64, .reason = "unfinished", .begin = milliseconds(1070)},
  });
  ASSERT_EQ(result_.compiles.size(), 2U);
  EXPECT_EQ(result_.compiles[0].part, "decode");
  EXPECT_EQ(result_.compiles[0].rung, 32);
  EXPECT_EQ(result_.compiles[0].reason, "before");
  EXPECT_NEAR(result_.compiles[0].begin_s, -0.020, kExact);
  EXPECT_NEAR(result_.compiles[0].end_s, 0.020, kExact);
  EXPECT_NEAR(result_.compiles[1].end_s, 0.100, kExact);
  EXPECT_NEAR(result_.time_s.hidden_compile, 0.020 + 0.030, kExact) << "within the request only";
  EXPECT_NEAR(events("compiler")[0].begin_s, 0, kExact) << "a timeline begins with the request";
}

TEST_F(RecorderTest, WhatWasWaitedForIsForegroundAndTheRestHidden) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(40));
  recorder.waited({.shape = kDecode64, .begin = milliseconds(1030), .at_boundary = true});
  recorder.finish({
      {.shape = kDecode32, .begin = milliseconds(1000), .end = milliseconds(1015)},
      {.shape = kDecode64, .begin = milliseconds(1015), .end = milliseconds(1040)},
  });
  ASSERT_EQ(result_.compiles.size(), 2U);
  EXPECT_FALSE(result_.compiles[0].foreground);
  EXPECT_EQ(result_.compiles[0].waited_s, 0);
  EXPECT_TRUE(result_.compiles[1].foreground);
  EXPECT_NEAR(result_.compiles[1].waited_s, 0.010, kExact);
  EXPECT_NEAR(result_.time_s.hidden_compile, 0.030, kExact);
}

// Each compile of a program that was let go and compiled again got the waits of both.
TEST_F(RecorderTest, OfAProgramCompiledTwiceEachHasItsOwnWait) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(10));
  recorder.waited({.shape = kDecode64, .begin = milliseconds(1005), .at_boundary = true});
  clock_.advance(milliseconds(20));
  recorder.waited({.shape = kDecode64, .begin = milliseconds(1023), .at_boundary = true});
  recorder.finish({
      {.shape = kDecode64, .begin = milliseconds(1000), .end = milliseconds(1010)},
      {.shape = kDecode64, .begin = milliseconds(1020), .end = milliseconds(1030)},
  });
  ASSERT_EQ(result_.compiles.size(), 2U);
  EXPECT_NEAR(result_.compiles[0].waited_s, 0.005, kExact);
  EXPECT_NEAR(result_.compiles[1].waited_s, 0.007, kExact);
  EXPECT_NEAR(result_.time_s.hidden_compile, 0.008, kExact);
}

TEST_F(RecorderTest, AFailedCompileAndADecisionStandOnTheTimeline) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(3));
  recorder.decision("start decode@32", "one ahead");
  recorder.finish({{.shape = kDecode32,
                    .reason = "one ahead",
                    .begin = milliseconds(1001),
                    .end = milliseconds(1002),
                    .failed = true}});
  const auto spans = events("compiler");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].name, "start decode@32");
  EXPECT_EQ(spans[0].begin_s, spans[0].end_s);
  EXPECT_EQ(spans[0].notes[0].second, "one ahead");
  EXPECT_EQ(spans[1].name, "decode@32 (failed)");
}

TEST_F(RecorderTest, TheCriticalPathIsTheSumOfItsParts) {
  Recorder recorder(clock_, result_);
  clock_.advance(milliseconds(10));
  recorder.waited({.shape = kPrefill32, .begin = milliseconds(1000)});
  clock_.advance(milliseconds(2));
  recorder.prefilled(milliseconds(1010), kPrefill32, 16);
  step(recorder, 32);
  clock_.advance(milliseconds(4));
  recorder.waited({.shape = kDecode64, .begin = milliseconds(1013), .at_boundary = true});
  clock_.advance(milliseconds(3));
  recorder.boundary({.from = 32, .to = 64, .migration_s = 0.003}, milliseconds(1017));
  clock_.advance(milliseconds(50));  // the caller's own time
  recorder.finish({});
  EXPECT_NEAR(result_.time_s.prefill, 0.002, kExact);
  EXPECT_NEAR(result_.time_s.critical_path, 0.010 + 0.002 + 0.001 + 0.004 + 0.003, kExact);
}

}  // namespace
}  // namespace ahead::runtime
