// Sequences decoded together: each generates what it generates alone, whatever schedule, policy and
// cut, and however the others go. May use: base, compile, kv, plan, GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/session_world.h"

namespace ahead::runtime {
namespace {

using compile::FakeModel;
using std::chrono::milliseconds;

using Prompts = std::vector<std::vector<std::int32_t>>;

Prompts prompts_of(const std::vector<std::size_t>& lengths) {
  Prompts prompts;
  for (const std::size_t length : lengths) {
    prompts.push_back(prompt_of(length));
    prompts.back().back() = static_cast<std::int32_t>(prompts.size());  // no two are alike
  }
  return prompts;
}

/// How sequences are cut and whether they have rungs of their own.
enum class Cut { kWhole, kCut, kOwnRungs };

using Corner = std::tuple<Schedule, KvPolicy, Cut>;

class BatchTest : public testing::TestWithParam<Corner> {
 protected:
  static World::Options options() {
    const auto& [schedule, kv, cut] = GetParam();
    return {
        .axes = {.ladder = {16, 32, 64, 128},
                 .schedule = schedule,
                 .kv = kv,
                 .partition = cut == Cut::kOwnRungs ? Partition::kAttention : Partition::kWhole},
        .cut = cut != Cut::kWhole};
  }
};

std::string corner_name(const testing::TestParamInfo<Corner>& corner) {
  const auto& [schedule, kv, cut] = corner.param;
  return name_of(schedule) +
         (kv == KvPolicy::kCopyGrow  ? "CopyGrow"
          : kv == KvPolicy::kInPlace ? "InPlace"
                                     : "SharedMax") +
         (cut == Cut::kWhole ? "Whole"
          : cut == Cut::kCut ? "Cut"
                             : "OwnRungs");
}

INSTANTIATE_TEST_SUITE_P(Session, BatchTest,
                         testing::Combine(testing::Values(Schedule::kEager, Schedule::kOneAhead,
                                                          Schedule::kOnDemand, Schedule::kPlanned),
                                          testing::Values(KvPolicy::kSharedMax, KvPolicy::kCopyGrow,
                                                          KvPolicy::kInPlace),
                                          testing::Values(Cut::kWhole, Cut::kCut, Cut::kOwnRungs)),
                         corner_name);

TEST_P(BatchTest, EverySequenceGeneratesWhatItGeneratesAlone) {
  for (const std::vector<std::size_t>& lengths :
       {std::vector<std::size_t>{4}, {4, 15, 16}, {40, 3, 17}, {1, 2, 3, 30, 31, 32, 33, 100}}) {
    SCOPED_TRACE("batch " + std::to_string(lengths.size()));
    World world(options());
    const Prompts prompts = prompts_of(lengths);
    const World::Batch batch = world.run_batch({.prompts = prompts});
    EXPECT_EQ(batch.wrong_logits, 0U);
    EXPECT_EQ(batch.result.error, "");
    for (std::size_t row = 0; row < prompts.size(); ++row) {
      EXPECT_EQ(batch.tokens[row], FakeModel::generate(prompts[row], 129 - lengths[row])) << row;
      EXPECT_EQ(batch.result.rows[row].finish_reason, FinishReason::kLength);
      EXPECT_EQ(batch.result.rows[row].generated, static_cast<std::int64_t>(129 - lengths[row]));
    }
  }
}

TEST_P(BatchTest, ASequenceThatEndsCostsNoFurtherTokensAndChangesNoOther) {
  World world(options());
  const Prompts prompts = prompts_of({14, 4, 20});
  const std::vector<std::size_t> ends = {1, 30, 9};
  const World::Batch batch = world.run_batch(
      {.prompts = prompts,
       .max_new_tokens = 60,
       .on_token = [&](std::int64_t row, std::size_t tokens) -> std::optional<FinishReason> {
         if (tokens == ends[static_cast<std::size_t>(row)]) return FinishReason::kStop;
         return std::nullopt;
       }});
  EXPECT_EQ(batch.wrong_logits, 0U);
  std::int64_t decoded = 0;
  for (const auto& [rung, tokens] : batch.result.tokens.by_rung) decoded += tokens.count;
  EXPECT_EQ(decoded, 29 + 8) << "the first token of each comes from its prompt";
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    EXPECT_EQ(batch.tokens[row], FakeModel::generate(prompts[row], ends[row])) << row;
    EXPECT_EQ(batch.result.rows[row].finish_reason, FinishReason::kStop);
  }
}

TEST_P(BatchTest, TheTokenLimitIsEverySequencesOwn) {
  World world(options());
  const Prompts prompts = prompts_of({4, 127, 128});
  const World::Batch batch = world.run_batch({.prompts = prompts, .max_new_tokens = 5});
  EXPECT_EQ(batch.tokens[0].size(), 5U);
  EXPECT_EQ(batch.tokens[1].size(), 2U) << "the last rung is full";
  EXPECT_EQ(batch.tokens[2].size(), 1U);
  EXPECT_EQ(batch.result.rows[0].finish_reason, FinishReason::kMaxTokens);
  EXPECT_EQ(batch.result.rows[1].finish_reason, FinishReason::kLength);
  EXPECT_EQ(batch.result.rows[2].finish_reason, FinishReason::kLength);
}

World::Options own_rungs(Schedule schedule = Schedule::kOneAhead) {
  return {.axes = {.ladder = {16, 32, 64, 128},
                   .schedule = schedule,
                   .kv = KvPolicy::kInPlace,
                   .partition = Partition::kAttention},
          .cut = true};
}

TEST(OwnRungsTest, SequencesMoveOneByOne) {
  World world(own_rungs());
  for (const std::int64_t rung : {16, 32, 64}) {
    world.compile_costs[{2, 1, rung}] = milliseconds(1);
  }
  const World::Batch batch =
      world.run_batch({.prompts = prompts_of({4, 10}), .max_new_tokens = 40});
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> moves;
  for (const BoundaryRecord& boundary : batch.result.boundaries) {
    moves.emplace_back(boundary.row, boundary.from, boundary.to);
    EXPECT_EQ(boundary.at_token, boundary.from);
    EXPECT_TRUE(boundary.ready);
    EXPECT_EQ(boundary.copied_bytes, 0);
  }
  EXPECT_EQ(moves, (decltype(moves){{1, 16, 32}, {0, 16, 32}, {1, 32, 64}, {0, 32, 64}}));
}

TEST(OwnRungsTest, ARungStaysWhileASequenceIsThere) {
  World world(own_rungs());
  std::set<std::int64_t> seen;
  world.on_step = [&] {
    if (world.store->compiling()) return;
    std::set<std::int64_t> resident;
    for (const auto& shape : world.store->settled()) {
      if (shape.tokens == 1) resident.insert(shape.rung);
    }
    // The rows are 20 apart: at most two rungs in use, and a successor.
    EXPECT_LE(resident.size(), 3U);
    seen.insert(resident.begin(), resident.end());
  };
  const World::Batch batch = world.run_batch({.prompts = prompts_of({4, 24})});
  EXPECT_EQ(batch.wrong_logits, 0U);
  EXPECT_EQ(seen, (std::set<std::int64_t>{16, 32, 64, 128}));
  EXPECT_EQ(world.store->settled(), (std::vector{graph::ProgramShape{2, 1, 128}}));
}

TEST(OwnRungsTest, OnlyTheRungsThatSequencesReachAreCompiled) {
  World world(own_rungs());
  static_cast<void>(world.run_batch({.prompts = prompts_of({4, 70}), .max_new_tokens = 5}));
  std::vector<graph::ProgramShape> decodes;
  for (const auto& shape : world.started()) {
    if (shape.tokens == 1) decodes.push_back(shape);
  }
  EXPECT_EQ(decodes, (std::vector{graph::ProgramShape{2, 1, 16}, graph::ProgramShape{2, 1, 128}}));
}

TEST(BatchStopTest, TokensSoFarStand) {
  World world(own_rungs());
  std::stop_source stop;
  const World::Batch batch = world.run_batch(
      {.prompts = prompts_of({4, 10}),
       .stop = stop.get_token(),
       .on_token = [&](std::int64_t, std::size_t tokens) -> std::optional<FinishReason> {
         if (tokens == 20) stop.request_stop();
         return std::nullopt;
       }});
  EXPECT_EQ(batch.result.finish_reason, FinishReason::kCancelled);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(batch.tokens[row].size(), 20U);
    EXPECT_EQ(batch.result.rows[row].finish_reason, FinishReason::kCancelled);
  }
}

TEST(BatchMemoryTest, ASequenceThatEndedGivesItsMemoryBack) {
  World world(own_rungs());
  std::size_t held = 0;
  static_cast<void>(world.run_batch(
      {.prompts = prompts_of({4, 10, 12}),
       .on_token = [&](std::int64_t row, std::size_t tokens) -> std::optional<FinishReason> {
         if (row == 2 && tokens == 20) held = world.pages.fake.held_regions();
         if (row == 1 && tokens == 10) return FinishReason::kStop;
         return std::nullopt;
       }}));
  EXPECT_EQ(held, 2 * 2 * FakeModel::kLayers) << "K and V of two sequences";
}

TEST(BatchFailureTest, ALateFailureKeepsTheTokensOfAll) {
  World world(own_rungs());
  world.script->compile_failures[{2, 1, 32}] = "no room";
  const World::Batch batch = world.run_batch({.prompts = prompts_of({4, 10})});
  EXPECT_EQ(batch.result.finish_reason, FinishReason::kError);
  EXPECT_NE(batch.result.error.find("no room"), std::string::npos) << batch.result.error;
  EXPECT_EQ(batch.tokens[1], FakeModel::generate(prompts_of({4, 10})[1], 7));
  EXPECT_EQ(batch.tokens[0], FakeModel::generate(prompts_of({4, 10})[0], 7));
}

TEST(BatchFailureTest, AProgramThatFailedBeforeIsAnErrorAlsoWhenAnotherIsMissing) {
  for (const Schedule schedule : {Schedule::kOnDemand, Schedule::kOneAhead}) {
    World world(own_rungs(schedule));
    world.script->compile_failures[{2, 1, 32}] = "no room";
    static_cast<void>(world.run_batch({.prompts = prompts_of({20, 20})}));
    const World::Batch batch = world.run_batch({.prompts = prompts_of({5, 20})});
    EXPECT_EQ(batch.result.finish_reason, FinishReason::kError);
    EXPECT_NE(batch.result.error.find("no room"), std::string::npos) << batch.result.error;
    EXPECT_EQ(batch.tokens[0].size(), 1U);
    EXPECT_EQ(batch.tokens[1].size(), 1U);
  }
}

TEST(OwnRungsTest, EagerCompilesNothingTwiceForPromptsOfManyLengths) {
  World world(own_rungs(Schedule::kEager));
  const World::Batch batch = world.run_batch({.prompts = prompts_of({5, 20, 50})});
  EXPECT_EQ(batch.wrong_logits, 0U);
  const auto started = world.started();
  EXPECT_EQ(std::set<graph::ProgramShape>(started.begin(), started.end()).size(), started.size());
  EXPECT_EQ(batch.result.time_s.boundary_wait, 0);
}

TEST(ResidentTest, MoreRungsStayWhereAskedFor) {
  World::Options options{.axes = {.ladder = {16, 32, 64, 128}, .schedule = Schedule::kOneAhead},
                         .resident = 4};
  World world(options);
  static_cast<void>(world.run({}));
  const std::size_t compiled = world.started().size();
  static_cast<void>(world.run({}));
  EXPECT_EQ(world.started().size(), compiled) << "nothing is compiled twice";
}

}  // namespace
}  // namespace ahead::runtime
