// A session whose compiles fail: what it keeps, what it says, what it leaves undone. May use: base,
// compile, kv, plan, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr Schedule kSchedules[] = {Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand};

World::Options with(Schedule schedule) {
  return {.axes = {.ladder = {16, 32, 64, 128}, .schedule = schedule}};
}

void expect_tokens(const Outcome& outcome, std::size_t count) {
  EXPECT_EQ(outcome.tokens, FakeModel::generate(World::Ask{}.prompt, count));
  EXPECT_EQ(outcome.wrong_logits, 0U);
}

TEST(FailedCompileTest, OfARungIsDeliveredAtItsBoundaryWithTheTokensBefore) {
  for (const Schedule schedule : kSchedules) {
    for (const auto& [cost, when] : {std::pair(10, "early"), std::pair(25, "late")}) {
      SCOPED_TRACE(name_of(schedule) + " " + when);
      World world(with(schedule));
      world.script->compile_failures[decode_at(64)] = "the compiler ran out of registers";
      world.compile_costs[decode_at(64)] = milliseconds(cost);
      const Outcome outcome = world.run();
      expect_tokens(outcome, 29);  // 32 rows are live, and the last token is not
      EXPECT_EQ(outcome.result.finish_reason, FinishReason::kError);
      EXPECT_THAT(outcome.result.error,
                  AllOf(HasSubstr("decode@64"), HasSubstr("the compiler ran out of registers")));
      ASSERT_EQ(outcome.result.boundaries.size(), 1U);
      EXPECT_EQ(outcome.result.boundaries[0].to, 32);
      EXPECT_NEAR(outcome.result.time_s.critical_path, outcome.elapsed_s, 1e-9);
      EXPECT_FALSE(world.store->compiling()) << "nothing is compiled for a request that ended";
    }
  }
}

TEST(FailedCompileTest, OfTheFirstDecodeProgramKeepsTheFirstToken) {
  for (const Schedule schedule : kSchedules) {
    World world(with(schedule));
    world.script->compile_failures[decode_at(16)] = "no";
    const Outcome outcome = world.run();
    expect_tokens(outcome, 1);
    EXPECT_EQ(outcome.result.finish_reason, FinishReason::kError);
    EXPECT_THAT(outcome.result.error, HasSubstr("decode@16"));
  }
}

TEST(FailedCompileTest, OfTheFirstProgramIsThrownAndNothingElseIsCompiled) {
  for (const Schedule schedule : kSchedules) {
    SCOPED_TRACE(name_of(schedule));
    World world(with(schedule));
    world.script->compile_failures[prefill_at(16)] = "no";
    try {
      static_cast<void>(world.run());
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCompileFailed);
      EXPECT_THAT(error.what(), HasSubstr("prefill@16"));
    }
    EXPECT_EQ(world.started(), std::vector{prefill_at(16)});
    EXPECT_EQ(world.executor.queued(), 0U);
  }
}

TEST(FailedCompileTest, IsKeptForTheNextRequestToo) {
  World world(with(Schedule::kOneAhead));
  world.script->compile_failures[decode_at(32)] = "no";
  expect_tokens(world.run(), 13);
  const auto started = world.started();
  const Outcome second = world.run();
  expect_tokens(second, 13);
  EXPECT_THAT(second.result.error, HasSubstr("decode@32"));
  EXPECT_EQ(world.started(), started) << "what is known to fail is not tried again";
}

TEST(FailedCompileTest, AProgramOnAnotherDeviceEndsTheRequestNamingIt) {
  World world(with(Schedule::kOneAhead));
  world.script->devices[decode_at(32)] = {"ELSEWHERE"};
  const Outcome outcome = world.run();
  expect_tokens(outcome, 13);
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kError);
  EXPECT_THAT(outcome.result.error,
              AllOf(HasSubstr("decode@32"), HasSubstr("'whole'"), HasSubstr("ELSEWHERE")));
  EXPECT_EQ(outcome.result.executed_on, std::vector<std::string>{"FAKE"});
}

TEST(FailedCallbackTest, KeepsTheTokensBeforeIt) {
  World world(with(Schedule::kOneAhead));
  const Outcome outcome =
      world.run({.on_token = [](std::size_t tokens) -> std::optional<FinishReason> {
        if (tokens == 20) throw std::runtime_error("the pipe is broken");
        return std::nullopt;
      }});
  expect_tokens(outcome, 20);
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kError);
  EXPECT_THAT(outcome.result.error, HasSubstr("the pipe is broken"));
  EXPECT_EQ(world.pages.fake.held_regions(), 0U);
}

}  // namespace
}  // namespace ahead::runtime
