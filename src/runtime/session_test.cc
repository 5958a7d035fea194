// A session's tokens: on every schedule, policy, cut, prompt and chunk they are those of a ladder
// of one rung; and what is left of a run that fails. May use: base, compile, kv, plan, GoogleTest.
#include "runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ahead/error.h"
#include "compile/fake_backend.h"
#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using compile::ProgramState;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

/// The tokens are the model's, and so were the logits of every step.
void expect_tokens(const Outcome& outcome, const std::vector<std::int32_t>& prompt,
                   std::size_t count) {
  EXPECT_EQ(outcome.tokens, FakeModel::generate(prompt, count));
  EXPECT_EQ(outcome.wrong_logits, 0U);
}

/// The error that a run throws.
std::optional<Error> error_of(World& world, const World::Ask& ask = {}) {
  try {
    static_cast<void>(world.run(ask));
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

using Corner = std::tuple<Schedule, KvPolicy, bool>;

class EveryDesignTest : public testing::TestWithParam<Corner> {
 protected:
  static World::Options options(std::int64_t chunk) {
    const auto& [schedule, kv, cut] = GetParam();
    return {.axes = {.ladder = {16, 32, 64, 128}, .schedule = schedule, .kv = kv},
            .chunk = chunk,
            .cut = cut};
  }
};

std::string corner_name(const testing::TestParamInfo<Corner>& corner) {
  const auto& [schedule, kv, cut] = corner.param;
  return name_of(schedule) +
         (kv == KvPolicy::kCopyGrow  ? "CopyGrow"
          : kv == KvPolicy::kInPlace ? "InPlace"
                                     : "SharedMax") +
         (cut ? "Cut" : "Whole");
}

INSTANTIATE_TEST_SUITE_P(Session, EveryDesignTest,
                         testing::Combine(testing::Values(Schedule::kEager, Schedule::kOneAhead,
                                                          Schedule::kOnDemand, Schedule::kPlanned),
                                          testing::Values(KvPolicy::kSharedMax, KvPolicy::kCopyGrow,
                                                          KvPolicy::kInPlace),
                                          testing::Bool()),
                         corner_name);

TEST_P(EveryDesignTest, GeneratesWhatOneRungGenerates) {
  for (const std::size_t prompt_tokens : {1U, 5U, 15U, 16U, 17U, 20U, 32U, 40U, 128U}) {
    const std::vector<std::int32_t> prompt = prompt_of(prompt_tokens);
    World reference({.axes = {.ladder = {128}, .schedule = Schedule::kEager}, .chunk = 128});
    const std::vector<std::int32_t> expected = reference.run({.prompt = prompt}).tokens;
    ASSERT_EQ(expected.size(), 128 - prompt_tokens + 1);
    for (const std::int64_t chunk : {1, 7, 16, 128}) {
      SCOPED_TRACE("prompt " + std::to_string(prompt_tokens) + " chunk " + std::to_string(chunk));
      World world(options(chunk));
      world.compile_costs[decode_at(64)] = milliseconds(30);  // late under one-ahead
      const Outcome outcome = world.run({.prompt = prompt});
      EXPECT_EQ(outcome.tokens, expected);
      EXPECT_EQ(outcome.wrong_logits, 0U);
      EXPECT_EQ(outcome.result.finish_reason, FinishReason::kLength);
      EXPECT_EQ(outcome.result.error, "");

      const RunResult& result = outcome.result;
      std::int64_t steps = 0;
      for (const auto& [rung, tokens] : result.tokens.by_rung) steps += tokens.count;
      EXPECT_EQ(steps, static_cast<std::int64_t>(expected.size()) - 1);
      // The planner may begin on a larger rung.
      const bool planned = std::get<0>(GetParam()) == Schedule::kPlanned;
      EXPECT_TRUE(planned || result.boundaries.size() == 3U);
      for (const BoundaryRecord& boundary : result.boundaries) {
        EXPECT_EQ(boundary.at_token, boundary.from);
        EXPECT_EQ(boundary.to, 2 * boundary.from);
      }
      EXPECT_TRUE(result.boundaries.empty() || result.boundaries.back().to == 128);
      // Nothing but the critical path took time.
      EXPECT_NEAR(result.time_s.critical_path, outcome.elapsed_s, 1e-9);
      EXPECT_NEAR(result.time_s.foreground_compile + result.time_s.prefill + result.time_s.decode +
                      result.time_s.boundary_wait + result.time_s.migration,
                  result.time_s.critical_path, 1e-12);
    }
  }
}

/// Around a block, a rung and the ring's turning, prompts that end before, at and behind the
/// window, and chunks that straddle it.
TEST_P(EveryDesignTest, AWindowIsWhatTheModelSeesWhereverItEnds) {
  for (const std::int64_t window : {1, 15, 16, 17, 33, 100}) {
    for (const std::size_t prompt_tokens : {1U, 17U, 34U, 70U}) {
      const std::vector<std::int32_t> prompt = prompt_of(prompt_tokens);
      const std::vector<std::int32_t> expected =
          FakeModel::generate(prompt, 128 - prompt_tokens + 1, window);
      for (const std::int64_t chunk : {7, 64}) {
        SCOPED_TRACE("window " + std::to_string(window) + " prompt " +
                     std::to_string(prompt_tokens) + " chunk " + std::to_string(chunk));
        World::Options wanted = options(chunk);
        wanted.window = window;
        World world(wanted);
        const Outcome outcome = world.run({.prompt = prompt});
        EXPECT_EQ(outcome.result.error, "");
        EXPECT_EQ(outcome.tokens, expected);
        EXPECT_EQ(outcome.wrong_logits, 0U);
      }
    }
  }
}

TEST_P(EveryDesignTest, ASecondRequestOnTheSameProgramsGeneratesTheSame) {
  World world(options(16));
  const Outcome first = world.run();
  expect_tokens(first, {3, 1, 4, 1}, 125);
  const std::size_t compiled = world.started().size();
  const Outcome second = world.run({.prompt = prompt_of(20)});
  expect_tokens(second, prompt_of(20), 109);
  if (std::get<0>(GetParam()) == Schedule::kPlanned) return;  // it begins where it estimates
  EXPECT_EQ(compiled, 5U);
  // Everything below the last rung was left, and the last rung itself while the first ran again:
  // two rungs are resident. What was compiled up front is not let go.
  std::vector<graph::ProgramShape> again = {prefill_at(16), prefill_at(32), decode_at(32),
                                            decode_at(64)};
  if (std::get<0>(GetParam()) != Schedule::kEager) again.push_back(decode_at(128));
  auto started = world.started();
  started.erase(started.begin(), started.begin() + 5);
  EXPECT_EQ(started, again);
  EXPECT_EQ(second.result.compiles.size(), again.size())
      << "compiles of the first request are not the second's";
  for (const CompileRecord& record : second.result.compiles) EXPECT_GE(record.begin_s, 0);
}

TEST(SessionLimitTest, TheRungFullAtTheEndGivesOneTokenMore) {
  World world({.axes = {.ladder = {16, 32}, .schedule = Schedule::kOneAhead}});
  const Outcome outcome = world.run({.prompt = prompt_of(30)});
  expect_tokens(outcome, prompt_of(30), 3);
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kLength);
}

TEST(SessionLimitTest, APromptThatFillsTheLastRungGivesOneToken) {
  World world({.axes = {.ladder = {16, 32}, .schedule = Schedule::kOneAhead}});
  const Outcome outcome = world.run({.prompt = prompt_of(32)});
  expect_tokens(outcome, prompt_of(32), 1);
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kLength);
  EXPECT_EQ(world.started(), (std::vector{prefill_at(16), prefill_at(32)}));
}

TEST(SessionLimitTest, TheTokenLimitEndsTheRequest) {
  World world({});
  const Outcome outcome = world.run({.max_new_tokens = 13});
  expect_tokens(outcome, {3, 1, 4, 1}, 13);
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kMaxTokens);
  EXPECT_TRUE(outcome.result.boundaries.empty()) << "the 13th token is not fed";
}

TEST(SessionLimitTest, OneTokenTakesNoDecodeProgram) {
  for (const Schedule schedule : {Schedule::kOneAhead, Schedule::kOnDemand}) {
    World world({.axes = {.ladder = {16, 32}, .schedule = schedule}});
    const Outcome outcome = world.run({.max_new_tokens = 1});
    expect_tokens(outcome, {3, 1, 4, 1}, 1);
    EXPECT_EQ(outcome.result.finish_reason, FinishReason::kMaxTokens);
    EXPECT_EQ(world.started(), std::vector{prefill_at(16)});
  }
}

TEST(SessionDeviceTest, ExecutedOnListsEveryDeviceOnce) {
  World world({});
  world.script->devices[decode_at(32)] = {"FAKE.1"};
  const Outcome outcome = world.run();
  EXPECT_EQ(outcome.result.executed_on, (std::vector<std::string>{"FAKE", "FAKE.1"}));
}

TEST(SessionDeviceTest, AStepThatFailsKeepsTheTokensBeforeIt) {
  World world({});
  world.script->failing_step = 20;  // one chunk, then the 19th decode step
  const Outcome outcome = world.run();
  expect_tokens(outcome, {3, 1, 4, 1}, 19);
  EXPECT_EQ(outcome.result.finish_reason, FinishReason::kError);
  EXPECT_THAT(outcome.result.error, HasSubstr("failed as scripted"));
  EXPECT_EQ(world.pages.fake.held_regions(), 0U);
}

TEST(SessionDeviceTest, AFailureBeforeTheFirstTokenIsThrown) {
  World world({});
  world.script->failing_step = 1;
  const auto error = error_of(world);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kDevice);
}

TEST(SessionMemoryTest, MemoryRefusedAtABoundaryKeepsTheTokensBeforeIt) {
  // Four regions at each of three boundaries.
  for (const auto& [boundary, refused] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {1, 3}, {1, 4}, {2, 1}, {3, 4}}) {
    SCOPED_TRACE(std::to_string(boundary) + ", call " + std::to_string(refused));
    const std::size_t before = (std::size_t{16} << (boundary - 1)) - 4 + 1;
    World world({.axes = {.ladder = {16, 32, 64, 128},
                          .schedule = Schedule::kOneAhead,
                          .kv = KvPolicy::kCopyGrow}});
    const Outcome outcome = world.run(
        {.on_token = [&, call = refused](std::size_t tokens) -> std::optional<FinishReason> {
          if (tokens == before) world.pages.fake.fail_in(call);
          return std::nullopt;
        }});
    expect_tokens(outcome, {3, 1, 4, 1}, before);
    EXPECT_EQ(outcome.result.finish_reason, FinishReason::kError);
    EXPECT_THAT(outcome.result.error,
                AllOf(HasSubstr("bytes"), HasSubstr(std::to_string(16U << boundary) + " rows")));
    EXPECT_EQ(outcome.result.boundaries.size(), boundary - 1);
    EXPECT_EQ(world.pages.fake.held_regions(), 0U);
    EXPECT_FALSE(world.store->compiling()) << "nothing is compiled for a request that ended";
    // The programs are as good as before.
    expect_tokens(world.run(), {3, 1, 4, 1}, 125);
  }
}

TEST(SessionMemoryTest, MemoryRefusedAtTheBeginningIsThrown) {
  World world({.axes = {.ladder = {16, 32, 64, 128},
                        .schedule = Schedule::kOneAhead,
                        .kv = KvPolicy::kCopyGrow}});
  world.pages.fake.fail_in(2);
  const auto error = error_of(world);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kOutOfMemory);
  EXPECT_EQ(world.pages.fake.held_regions(), 0U);
}

TEST(SessionMemoryTest, CopiedBytesAreThoseOfTheLiveBlocks) {
  World copying({.axes = {.ladder = {16, 32, 64, 128},
                          .schedule = Schedule::kOneAhead,
                          .kv = KvPolicy::kCopyGrow}});
  const Outcome copied = copying.run();
  ASSERT_EQ(copied.result.boundaries.size(), 3U);
  constexpr std::int64_t kBlockBytes = 2 * 4 * 16 * 4;  // heads, dims, rows, bytes
  std::int64_t blocks = 4;                              // K and V of two layers
  for (const BoundaryRecord& boundary : copied.result.boundaries) {
    EXPECT_EQ(boundary.live_blocks, blocks);
    EXPECT_EQ(boundary.copied_bytes, blocks * kBlockBytes);
    blocks *= 2;
  }
  for (const KvPolicy kv : {KvPolicy::kSharedMax, KvPolicy::kInPlace}) {
    World world({.axes = {.ladder = {16, 32, 64, 128}, .schedule = Schedule::kOneAhead, .kv = kv}});
    const Outcome kept = world.run();
    ASSERT_EQ(kept.result.boundaries.size(), 3U);
    for (const BoundaryRecord& boundary : kept.result.boundaries) {
      EXPECT_EQ(boundary.copied_bytes, 0);
    }
  }
}

TEST(HelpedSessionTest, PartsOfAProgramThatIsWaitedForAreCompiledByTheHelperToo) {
  World cut({.cut = true});
  const Outcome outcome = cut.run();
  EXPECT_EQ(outcome.result.error, "");
  EXPECT_EQ(outcome.wrong_logits, 0U);
  EXPECT_GT(cut.helped, 0U);
  World whole({.cut = false});
  (void)whole.run();
  EXPECT_EQ(whole.helped, 0U) << "a program of one part leaves nothing to help with";
}

TEST(HelpedSessionTest, NobodyHelpsWithWhatNobodyWaitsFor) {
  World world({.axes = {.ladder = {16, 64}, .schedule = Schedule::kOneAhead}, .cut = true});
  world.compile_costs[decode_at(64)] = milliseconds(2);
  std::size_t helped_before_decoding = 0;
  (void)world.run({.on_token = [&](std::size_t tokens) -> std::optional<FinishReason> {
    if (tokens == 2) helped_before_decoding = world.helped;  // decode@16 was waited for
    return std::nullopt;
  }});
  EXPECT_EQ(world.started().back(), decode_at(64));
  EXPECT_EQ(world.helped, helped_before_decoding) << "the last rung compiled behind decoding";
}

}  // namespace
}  // namespace ahead::runtime
