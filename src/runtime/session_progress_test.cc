// What a waiting person is told, and in which order. May use: base, compile, kv, plan, GoogleTest.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using std::chrono::milliseconds;

/// "compile decode@32", "wait decode@32", "ready decode@32 10": compiles as they were told.
std::vector<std::string> compiles(const Outcome& outcome) {
  std::vector<std::string> lines;
  for (const Progress& progress : outcome.progress) {
    const std::string name = std::string(progress.program) + "@" + std::to_string(progress.rung);
    if (progress.kind == Progress::Kind::kCompileBegin) {
      lines.push_back((progress.foreground ? "wait " : "compile ") + name);
    } else if (progress.kind == Progress::Kind::kCompileEnd) {
      lines.push_back("ready " + name + " " + std::to_string(std::lround(progress.seconds * 1000)));
    }
  }
  return lines;
}

TEST(SessionProgressTest, EveryCompileBecomesReadyOnceWithWhatItTookOrWasWaitedFor) {
  World world({.axes = {.ladder = {16, 32, 64, 128}, .schedule = Schedule::kOneAhead}});
  world.compile_costs[decode_at(32)] = milliseconds(12);  // with the last step before the boundary
  world.compile_costs[decode_at(64)] = milliseconds(20);  // 4 late
  EXPECT_EQ(
      compiles(world.run()),
      (std::vector<std::string>{"wait prefill@16", "ready prefill@16 10", "compile decode@16",
                                "wait decode@16", "ready decode@16 8", "compile decode@32",
                                "ready decode@32 12", "compile decode@64", "wait decode@64",
                                "ready decode@64 4", "compile decode@128", "ready decode@128 10"}));
}

TEST(SessionProgressTest, AnEagerLadderIsWaitedForOneByOne) {
  World world({.axes = {.ladder = {16, 32}, .schedule = Schedule::kEager}});
  EXPECT_EQ(compiles(world.run()),
            (std::vector<std::string>{"wait prefill@16", "ready prefill@16 10", "compile decode@16",
                                      "wait decode@16", "ready decode@16 10", "compile decode@32",
                                      "wait decode@32", "ready decode@32 10"}));
}

TEST(SessionProgressTest, ACompileThatEndsBesideThePromptIsToldBetweenChunks) {
  World world({.axes = {.ladder = {64, 128}, .schedule = Schedule::kOneAhead}});
  world.script->prefill_cost = milliseconds(10);
  std::vector<std::int64_t> read;  // of the prompt, when a compile was ready
  std::int64_t tokens = 0;
  static_cast<void>(world.run(
      {.prompt = prompt_of(60), .max_new_tokens = 2, .on_progress = [&](const Progress& progress) {
         if (progress.kind == Progress::Kind::kPrefill) {
           tokens = progress.tokens;
         } else if (progress.kind == Progress::Kind::kCompileEnd) {
           read.push_back(tokens);
         }
       }}));
  EXPECT_EQ(read, (std::vector<std::int64_t>{0, 16})) << "prefill@64, decode@64";
}

TEST(SessionProgressTest, TokensPromptAndBoundariesAreCounted) {
  World world({.axes = {.ladder = {16, 32, 64}, .schedule = Schedule::kOneAhead}});
  world.compile_costs[decode_at(64)] = milliseconds(15);
  const Outcome outcome = world.run({.prompt = prompt_of(20)});
  std::vector<std::int64_t> prefilled;
  std::vector<std::int64_t> boundaries;
  std::int64_t tokens = 0;
  double waited = 0;
  for (const Progress& progress : outcome.progress) {
    switch (progress.kind) {
      case Progress::Kind::kPrefill:
        prefilled.push_back(progress.tokens);
        EXPECT_EQ(progress.prompt_tokens, 20);
        break;
      case Progress::Kind::kBoundary:
        boundaries.push_back(progress.rung);
        waited = progress.seconds;
        break;
      case Progress::Kind::kToken:
        EXPECT_EQ(progress.tokens, ++tokens);
        break;
      case Progress::Kind::kCompileBegin:
      case Progress::Kind::kCompileEnd:
        break;
    }
  }
  EXPECT_EQ(prefilled, (std::vector<std::int64_t>{16, 20}));
  EXPECT_EQ(boundaries, (std::vector<std::int64_t>{32, 64}));
  EXPECT_EQ(tokens, 45);
  EXPECT_NEAR(waited, 0.003, 1e-12);  // 12 steps beside 15 ms
}

}  // namespace
}  // namespace ahead::runtime
