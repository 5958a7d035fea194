// A session's schedules against a scripted compiler: successors early, on time, late and failed,
// what is compiled when, what is let go, and where the time is booked. May use: base, compile, kv,
// plan, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using compile::ProgramState;
using graph::ProgramShape;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr double kExact = 1e-12;

World::Options with(Schedule schedule, bool cut = false) {
  return {.axes = {.ladder = {16, 32, 64, 128}, .schedule = schedule}, .cut = cut};
}

const CompileRecord& record_of(const RunResult& result, const ProgramShape& shape) {
  const auto found = std::find_if(
      result.compiles.begin(), result.compiles.end(), [&](const CompileRecord& record) {
        return record.part == shape.phase() && record.rung == shape.rung;
      });
  EXPECT_NE(found, result.compiles.end());
  return *found;
}

// One-ahead, 4 prompt tokens, 10 ms a compile, 2 ms the chunk, 1 ms a step:
//   0 compile prefill@16, 10 prefill and compile decode@16, 12 first token, wait until 20,
//   20 decode@16 and compile decode@32, 32 boundary to 32, 48 to 64, 80 to 128, 144 end.

TEST(OneAheadTest, AnEarlySuccessorCostsNoWait) {
  World world(with(Schedule::kOneAhead));
  const RunResult result = world.run().result;
  ASSERT_EQ(result.boundaries.size(), 3U);
  for (const BoundaryRecord& boundary : result.boundaries) {
    EXPECT_TRUE(boundary.ready);
    EXPECT_EQ(boundary.wait_s, 0);
    EXPECT_FALSE(record_of(result, decode_at(boundary.to)).foreground);
  }
  EXPECT_EQ(result.time_s.boundary_wait, 0);
  EXPECT_NEAR(result.time_s.foreground_compile, 0.018, kExact);
  EXPECT_NEAR(result.time_s.hidden_compile, 0.032, kExact);
  EXPECT_NEAR(result.time_s.prefill, 0.002, kExact);
  EXPECT_NEAR(result.time_s.decode, 0.124, kExact);
  EXPECT_NEAR(result.time_s.ttft, 0.012, kExact);
  EXPECT_NEAR(result.time_s.critical_path, 0.144, kExact);
  const CompileRecord& first_decode = record_of(result, decode_at(16));
  EXPECT_TRUE(first_decode.foreground);
  EXPECT_NEAR(first_decode.waited_s, 0.008, kExact);
  const CompileRecord& successor = record_of(result, decode_at(32));
  EXPECT_NEAR(successor.begin_s, 0.020, kExact);
  EXPECT_NEAR(successor.end_s, 0.030, kExact);
  EXPECT_THAT(successor.reason, HasSubstr("one ahead"));
}

TEST(OneAheadTest, ASuccessorReadyWithTheLastTokenBeforeTheBoundaryCostsNoWait) {
  World world(with(Schedule::kOneAhead));
  world.compile_costs[decode_at(32)] = milliseconds(12);
  const RunResult result = world.run().result;
  ASSERT_EQ(result.boundaries.size(), 3U);
  EXPECT_NEAR(record_of(result, decode_at(32)).end_s, 0.032, kExact);
  EXPECT_TRUE(result.boundaries[0].ready);
  EXPECT_EQ(result.boundaries[0].wait_s, 0);
  EXPECT_EQ(result.time_s.boundary_wait, 0);
  EXPECT_FALSE(record_of(result, decode_at(32)).foreground);
}

TEST(OneAheadTest, ALateSuccessorIsWaitedForExactlyAsLongAsItIsLate) {
  World world(with(Schedule::kOneAhead));
  world.compile_costs[decode_at(32)] = milliseconds(19);
  const RunResult result = world.run().result;
  ASSERT_EQ(result.boundaries.size(), 3U);
  EXPECT_FALSE(result.boundaries[0].ready);
  EXPECT_NEAR(result.boundaries[0].wait_s, 0.007, kExact);
  EXPECT_TRUE(result.boundaries[1].ready);
  EXPECT_NEAR(result.time_s.boundary_wait, 0.007, kExact);
  EXPECT_NEAR(result.time_s.foreground_compile, 0.018, kExact) << "a boundary's wait is not in it";
  EXPECT_NEAR(result.time_s.hidden_compile, 0.059 - 0.025, kExact);
  EXPECT_NEAR(result.time_s.critical_path, 0.151, kExact);
  const CompileRecord& late = record_of(result, decode_at(32));
  EXPECT_TRUE(late.foreground);
  EXPECT_NEAR(late.waited_s, 0.007, kExact);
}

TEST(OneAheadTest, HasAtMostOneProgramBeyondTheCurrent) {
  for (const bool cut : {false, true}) {
    World world(with(Schedule::kOneAhead, cut));
    world.compile_costs[decode_at(64)] = milliseconds(30);
    const Outcome outcome = world.run({.on_token = [&](std::size_t tokens) {
      const std::int64_t live = 4 + static_cast<std::int64_t>(tokens) - 1;
      // While at most so many rows are live, the current program is two below the rung's.
      const std::map<std::int64_t, std::int64_t> two_below = {{32, 4}, {64, 16}, {128, 32}};
      for (const auto& [rung, rows] : two_below) {
        if (live > rows) continue;
        EXPECT_EQ(world.store->state(decode_at(rung)), ProgramState::kAbsent)
            << rung << " at " << live;
      }
      return std::nullopt;
    }});
    EXPECT_EQ(outcome.tokens.size(), 125U);
    EXPECT_EQ(world.started(), (std::vector{prefill_at(16), decode_at(16), decode_at(32),
                                            decode_at(64), decode_at(128)}));
  }
}

TEST(OneAheadTest, StartsNothingPastTheTokenLimit) {
  World enough(with(Schedule::kOneAhead));
  EXPECT_EQ(enough.run({.max_new_tokens = 13}).tokens.size(), 13U);
  EXPECT_EQ(enough.started(), (std::vector{prefill_at(16), decode_at(16)}));
  World one_more(with(Schedule::kOneAhead));
  EXPECT_EQ(one_more.run({.max_new_tokens = 14}).tokens.size(), 14U);
  EXPECT_EQ(one_more.started(), (std::vector{prefill_at(16), decode_at(16), decode_at(32)}));
}

TEST(OneAheadTest, CompilesAheadOfALongPromptsChunksToo) {
  World world(with(Schedule::kOneAhead));
  world.script->prefill_cost = milliseconds(10);
  const RunResult result = world.run({.prompt = prompt_of(40)}).result;
  EXPECT_EQ(world.started(), (std::vector{prefill_at(16), prefill_at(32), prefill_at(64),
                                          decode_at(64), decode_at(128)}));
  EXPECT_NEAR(result.time_s.foreground_compile, 0.010, kExact);
  ASSERT_EQ(result.boundaries.size(), 3U);
  EXPECT_EQ(result.boundaries[0].at_token, 16);
  EXPECT_TRUE(result.boundaries[0].ready);
}

TEST(OneAheadTest, AWaitInTheMiddleOfThePromptIsForegroundCompile) {
  World world(with(Schedule::kOneAhead));
  const RunResult result = world.run({.prompt = prompt_of(20)}).result;
  // prefill@16 10, chunk 2, wait 8 for prefill@32, chunk 2, wait 8 for decode@32.
  EXPECT_NEAR(result.time_s.foreground_compile, 0.026, kExact);
  EXPECT_EQ(result.time_s.boundary_wait, 0);
  ASSERT_EQ(result.boundaries.size(), 3U);
  EXPECT_FALSE(result.boundaries[0].ready);
  EXPECT_NEAR(result.boundaries[0].wait_s, 0.008, kExact);
}

TEST(EagerTest, CompilesTheWholeLadderBeforeTheFirstToken) {
  for (const std::int64_t limit : {2, 1000}) {
    World world(with(Schedule::kEager));
    std::size_t compiled = 0;
    const RunResult result = world
                                 .run({.max_new_tokens = limit,
                                       .on_token =
                                           [&](std::size_t tokens) {
                                             if (tokens == 1) compiled = world.started().size();
                                             EXPECT_FALSE(world.store->compiling());
                                             return std::nullopt;
                                           }})
                                 .result;
    EXPECT_EQ(compiled, 5U);
    EXPECT_EQ(world.started(), (std::vector{prefill_at(16), decode_at(16), decode_at(32),
                                            decode_at(64), decode_at(128)}));
    EXPECT_NEAR(result.time_s.foreground_compile, 0.050, kExact);
    EXPECT_NEAR(result.time_s.ttft, 0.052, kExact);
    EXPECT_NEAR(result.time_s.hidden_compile, 0, kExact);
    EXPECT_EQ(result.time_s.boundary_wait, 0);
    for (const BoundaryRecord& boundary : result.boundaries) EXPECT_TRUE(boundary.ready);
  }
}

TEST(OnDemandTest, WaitsForAWholeCompileAtEachBoundary) {
  World world(with(Schedule::kOnDemand));
  world.compile_costs[decode_at(64)] = milliseconds(30);
  const RunResult result = world
                               .run({.on_token =
                                         [&](std::size_t) {
                                           EXPECT_FALSE(world.store->compiling());
                                           return std::nullopt;
                                         }})
                               .result;
  ASSERT_EQ(result.boundaries.size(), 3U);
  for (const BoundaryRecord& boundary : result.boundaries) {
    EXPECT_FALSE(boundary.ready);
    EXPECT_NEAR(boundary.wait_s, boundary.to == 64 ? 0.030 : 0.010, kExact);
  }
  EXPECT_NEAR(result.time_s.foreground_compile, 0.020, kExact);
  EXPECT_NEAR(result.time_s.boundary_wait, 0.050, kExact);
  EXPECT_NEAR(result.time_s.hidden_compile, 0, kExact);
}

TEST(AccountTest, MigrationIsWhatGrowingTheCacheTook) {
  for (const KvPolicy kv : {KvPolicy::kCopyGrow, KvPolicy::kSharedMax}) {
    World world({.axes = {.ladder = {16, 32, 64}, .schedule = Schedule::kOneAhead, .kv = kv}});
    world.pages.allocation_cost = std::chrono::microseconds(250);
    const double each = kv == KvPolicy::kCopyGrow ? 0.001 : 0;
    const Outcome outcome = world.run();
    ASSERT_EQ(outcome.result.boundaries.size(), 2U);
    for (const BoundaryRecord& boundary : outcome.result.boundaries) {
      EXPECT_NEAR(boundary.migration_s, each, kExact);
      EXPECT_EQ(boundary.wait_s, 0);
    }
    EXPECT_NEAR(outcome.result.time_s.migration, 2 * each, kExact);
    EXPECT_NEAR(outcome.result.time_s.critical_path + 0.001, outcome.elapsed_s, kExact)
        << "but for the first allocation nothing else took time";
  }
}

TEST(AccountTest, StepsAreCountedByTheRungTheyRanOn) {
  World world(with(Schedule::kOneAhead));
  const RunResult result = world.run().result;
  const std::map<std::int64_t, std::int64_t> expected = {{16, 12}, {32, 16}, {64, 32}, {128, 64}};
  ASSERT_EQ(result.tokens.by_rung.size(), expected.size());
  for (const auto& [rung, count] : expected) {
    EXPECT_EQ(result.tokens.by_rung.at(rung).count, count);
    EXPECT_NEAR(result.tokens.by_rung.at(rung).seconds, 0.001 * static_cast<double>(count), kExact);
  }
}

TEST(AccountTest, ReservedMemoryIsWeightedByTime) {
  // 2048 bytes until 32 ms, 4096 until 48 ms; both at the switch.
  World copying(
      {.axes = {.ladder = {16, 32}, .schedule = Schedule::kOneAhead, .kv = KvPolicy::kCopyGrow}});
  const RunResult copied = copying.run().result;
  EXPECT_EQ(copied.memory.kv_reserved_avg_bytes, (2048 * 32 + 4096 * 16) / 48);
  EXPECT_EQ(copied.memory.kv_reserved_peak_bytes, 2048 + 4096);
  EXPECT_EQ(copied.memory.kv_committed_avg_bytes, copied.memory.kv_reserved_avg_bytes);
  World shared(
      {.axes = {.ladder = {16, 32}, .schedule = Schedule::kOneAhead, .kv = KvPolicy::kSharedMax}});
  const RunResult kept = shared.run().result;
  EXPECT_EQ(kept.memory.kv_reserved_avg_bytes, 4096);
  EXPECT_EQ(kept.memory.kv_reserved_peak_bytes, 4096);
}

TEST(DecisionTest, EveryStartAndWaitIsOnTheTimelineWithItsReason) {
  for (const Schedule schedule : {Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand}) {
    SCOPED_TRACE(name_of(schedule));
    World world(with(schedule));
    const RunResult result = world.run().result;
    const auto told = [&](const std::string& name) {
      return std::any_of(result.trace.begin(), result.trace.end(), [&](const TraceEvent& event) {
        return event.row == "compiler" && event.name == name && !event.notes.empty() &&
               event.notes.front().first == "reason" && !event.notes.front().second.empty();
      });
    };
    for (const CompileRecord& compile : result.compiles) {
      const std::string name = compile.part + "@" + std::to_string(compile.rung);
      EXPECT_TRUE(told("start " + name)) << name;
      EXPECT_TRUE(!compile.foreground || told("wait for " + name)) << name;
    }
  }
}

TEST(ReleaseTest, WhatWasLeftIsLetGoAtTheSwitchAndFreedBehindItOrBeforeTheNextCompile) {
  for (const Schedule schedule : {Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand}) {
    SCOPED_TRACE(name_of(schedule));
    World world(with(schedule));
    std::int64_t rung = 16;
    int steps_unfreed = 0;
    world.on_step = [&] {
      if (world.store->compiling() || rung == 16) return;
      if (world.store->released() > 0) {
        EXPECT_LT(++steps_unfreed, 6) << "at " << rung;
        return;
      }
      steps_unfreed = 0;
      const int above = rung == 32 ? 2 : rung == 64 ? 1 : 0;
      const int ahead = schedule == Schedule::kEager      ? above
                        : schedule == Schedule::kOneAhead ? std::min(above, 1)
                                                          : 0;
      EXPECT_EQ(world.script->live_artifacts, 1 + ahead) << "at " << rung;
    };
    world.script->compile_cost = [&, cost = world.script->compile_cost](const ProgramShape& shape,
                                                                        std::size_t part) {
      if (schedule != Schedule::kEager && shape.rung > 32) {
        EXPECT_EQ(world.script->live_artifacts, 1) << "besides " << to_string(shape);
      }
      return cost(shape, part);
    };
    static_cast<void>(world.run({.on_progress = [&](const Progress& progress) {
      if (progress.kind != Progress::Kind::kBoundary) return;
      rung = progress.rung;
      for (const std::int64_t left : {16, 32, 64}) {
        if (left >= rung) continue;
        EXPECT_EQ(world.store->state(decode_at(left)), ProgramState::kAbsent);
        EXPECT_EQ(world.store->state(prefill_at(left)), ProgramState::kAbsent);
      }
    }}));
    EXPECT_EQ(world.script->live_artifacts, 1) << "the last rung's";
  }
}

TEST(ReleaseTest, WhatAnEarlierRequestLeftBelowTheRungGoesToo) {
  World world(with(Schedule::kOneAhead));
  static_cast<void>(world.run({.prompt = prompt_of(20), .max_new_tokens = 2}));
  ASSERT_EQ(world.store->state(prefill_at(32)), ProgramState::kReady);
  static_cast<void>(world.run());  // has no use for prefill@32
  EXPECT_EQ(world.store->settled(), std::vector{decode_at(128)});
  EXPECT_EQ(world.script->live_artifacts, 1);
}

TEST(ReleaseTest, PartsThatDoNotDependOnTheRungOutliveEveryRung) {
  World world(with(Schedule::kOneAhead, true));
  static_cast<void>(world.run());
  EXPECT_EQ(world.script->live_artifacts, 3) << "rows, attend@128, head";
  std::map<std::string, int> compiled;
  for (const auto& compile : world.backend->compiles()) {
    if (compile.shape.tokens == 1) ++compiled[compile.part];
  }
  EXPECT_EQ(compiled, (std::map<std::string, int>{{"attend", 4}, {"head", 1}, {"rows", 1}}));
}

}  // namespace
}  // namespace ahead::runtime
