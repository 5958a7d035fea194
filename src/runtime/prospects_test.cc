// Estimates for programs on the toy back end: what is compared with what, and which way to go.
// May use: base, compile's fakes, plan, GoogleTest.
#include "runtime/prospects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/executor.h"
#include "compile/fake_backend.h"

namespace ahead::runtime {
namespace {

using plan::Need;
using testing::ElementsAre;

constexpr std::int64_t kWeights = 40'000'000;  // a token takes 10 ms by the guess

class ProspectsTest : public testing::Test {
 protected:
  ProspectsTest() { open({}); }

  void open(compile::FakeBackend::Options options) {
    store = std::make_unique<compile::ProgramStore>(
        compile::ProgramStore::Options{
            .backend = std::make_shared<compile::FakeBackend>(options, script),
            .device = "FAKE",
            .helper = &helper},
        executor, clock);
  }
  [[nodiscard]] Prospects prospects(std::vector<std::int64_t> chunks = {16},
                                    std::int64_t bytes_limit = 0) const {
    return {{.forms = {{.name = "soon"}, {.name = "fast", .expected = 0.7}},
             .chunks = std::move(chunks),
             .weight_bytes = kWeights,
             .bytes_limit = bytes_limit},
            {.store = *store, .costs = costs, .this_request = this_request}};
  }
  void compile(const Need& need) {
    store->start(shape_of(need), "because");
    while (executor.run_one()) continue;
  }
  static void measure(plan::CostModel& model, const std::string& form, const Need& need,
                      double seconds) {
    for (int i = 0; i < 3; ++i) model.stepped({form, need}, seconds);
  }
  [[nodiscard]] static Need decode(std::int64_t rung, std::int64_t tier = 0) {
    return {.rung = rung, .tier = tier};
  }
  [[nodiscard]] static Need prefill(std::int64_t rung, std::int64_t tokens) {
    return {.tokens = tokens, .rung = rung};
  }

  ManualClock clock;
  ManualExecutor executor;
  ManualExecutor helper;
  std::shared_ptr<compile::FakeScript> script = std::make_shared<compile::FakeScript>();
  std::unique_ptr<compile::ProgramStore> store;
  plan::CostModel costs;
  plan::CostModel this_request;
};

TEST_F(ProspectsTest, AFormNobodyMeasuredIsAShareOfTheOneBeforeIt) {
  measure(this_request, "soon", decode(16), 0.020);
  const plan::Estimate fast = prospects().step(decode(16, 1));
  EXPECT_NEAR(fast.typical_s, 0.014, 1e-9);
  EXPECT_EQ(fast.source, plan::Source::kScaled);
}

TEST_F(ProspectsTest, WithNothingMeasuredNoFormIsFaster) {
  EXPECT_DOUBLE_EQ(prospects().step(decode(16)).typical_s, 0.010);
  EXPECT_DOUBLE_EQ(prospects().step(decode(16, 1)).typical_s, 0.010);
}

TEST_F(ProspectsTest, FormsAreComparedByWhatThisRequestMeasured) {
  measure(this_request, "soon", decode(16), 0.020);
  measure(costs, "fast", decode(16), 0.040);  // of a day when the machine was busy
  EXPECT_NEAR(prospects().step(decode(16, 1)).typical_s, 0.014, 1e-9);
  measure(this_request, "fast", decode(16), 0.016);
  EXPECT_NEAR(prospects().step(decode(16, 1)).typical_s, 0.016, 1e-9);
}

TEST_F(ProspectsTest, WhatIsThereIsPreferredAndOfThatTheFastest) {
  measure(this_request, "soon", decode(16), 0.020);
  compile(decode(16));
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 0}), 0);
  store->start(shape_of(decode(16, 1)), "because");
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 0}), 0);
  while (executor.run_one()) continue;
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 0}), 1);
  measure(this_request, "fast", decode(16), 0.030);
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 0}), 0);
}

TEST_F(ProspectsTest, AFasterFormThatComesInTimeIsWantedThoughTheSlowerOneIsThere) {
  measure(this_request, "soon", decode(16), 0.020);
  compile(decode(16));
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 100}), 1);
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 0}), 0);
}

TEST_F(ProspectsTest, AFormThatFailedIsNotWanted) {
  script->compile_failures[shape_of(decode(16, 1))] = "no";
  compile(decode(16, 1));
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 100}), 0);
}

TEST_F(ProspectsTest, OfWhatIsNotThereTheFastestThatComesInTime) {
  measure(this_request, "soon", decode(16), 0.020);
  EXPECT_EQ(prospects().tier_for({.need = decode(16), .most = 1, .first_use_s = 100}), 1);
}

TEST_F(ProspectsTest, AChunkThatIsThereComesBeforeTheOneSoFar) {
  compile(prefill(64, 4));
  EXPECT_EQ(prospects({4, 16}).chunk_for(prefill(64, 16)), 4);
  compile(prefill(64, 16));
  EXPECT_EQ(prospects({4, 16}).chunk_for(prefill(64, 16)), 16) << "a token takes less with it";
}

TEST_F(ProspectsTest, TheChunkSoFarGoesOnWhereNoneIsThere) {
  EXPECT_EQ(prospects({4, 16}).chunk_for(prefill(64, 16)), 16);
  script->compile_failures[shape_of(prefill(64, 16))] = "no";
  compile(prefill(64, 16));
  EXPECT_EQ(prospects({4, 16}).chunk_for(prefill(64, 16)), 4) << "it failed";
}

TEST_F(ProspectsTest, ALargerChunkIsJudgedByWhatPromptsAreLeftForIt) {
  const plan::Needs needs{.programs = {prefill(32, 8)}, .first_use = {{}}, .now = 1};
  measure(costs, "soon", prefill(32, 8), 0.008);
  measure(costs, "soon", prefill(32, 32), 0.024);
  Standing standing{.reading = true, .chunk = 8, .prompt_left = 512, .left_on_rung = {32}};
  plan::Upgrade upgrade = prospects({8, 32}).upgrade(prefill(32, 32), needs, standing);
  EXPECT_EQ(upgrade.tokens_left, 32) << "the rung ends there";
  EXPECT_NEAR(upgrade.token_now.typical_s, 4 * 0.008 / 32, 1e-12);
  EXPECT_NEAR(upgrade.token.typical_s, 0.024 / 32, 1e-12);
  standing.left_on_rung = {4};  // which a chunk of 8 reads as well
  upgrade = prospects({8, 32}).upgrade(prefill(32, 32), needs, standing);
  EXPECT_GT(upgrade.token.typical_s, upgrade.token_now.typical_s);
  standing.left_on_rung = {8, 8, 8, 8};  // of four prompts
  upgrade = prospects({8, 32}).upgrade(prefill(32, 32), needs, standing);
  EXPECT_NEAR(upgrade.token.typical_s, 4 * 0.024 / 32, 1e-12);
}

TEST_F(ProspectsTest, NoFormIsFasterForABatch) {
  const plan::Needs needs{.programs = {{.rung = 16, .batch = 2}}, .first_use = {{}}, .now = 1};
  EXPECT_THAT(prospects().upgrade_needs(needs, {.batch = 2}), testing::IsEmpty());
  EXPECT_THAT(
      prospects().upgrade_needs({.programs = {decode(16)}, .first_use = {{}}, .now = 1}, {}),
      ElementsAre(decode(16, 1)));
}

std::vector<std::pair<std::int64_t, std::int64_t>> ways(
    const std::vector<plan::StartCost>& starts) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ways;
  for (const plan::StartCost& cost : starts) ways.emplace_back(cost.start.rung, cost.start.chunk);
  return ways;
}

Prospects::StartQuery start_of(std::int64_t prompt, std::int64_t batch = 1) {
  return {.ladder = {16, 32, 64, 128},
          .prompt_tokens = prompt,
          .least_prompt_tokens = prompt,
          .batch = batch};
}

TEST_F(ProspectsTest, StartsAreOnTheRungsOfThePromptInEveryChunk) {
  using testing::Pair;
  EXPECT_THAT(
      ways(prospects({8, 64}).starts(start_of(20))),
      ElementsAre(Pair(16, 1), Pair(16, 8), Pair(16, 16), Pair(32, 1), Pair(32, 8), Pair(32, 32)));
  EXPECT_THAT(ways(prospects({8}).starts(start_of(16, 2))), ElementsAre(Pair(16, 8)));
}

TEST_F(ProspectsTest, NoSequenceOfABatchBeginsBeyondItsOwnPrompt) {
  Prospects::StartQuery query = start_of(100, 2);
  query.least_prompt_tokens = 10;
  for (const plan::StartCost& cost : prospects().starts(query)) EXPECT_EQ(cost.start.rung, 16);
}

TEST_F(ProspectsTest, AWayThatFailedIsNoStart) {
  script->compile_failures[shape_of(prefill(16, 8))] = "no";
  compile(prefill(16, 8));
  EXPECT_THAT(ways(prospects({8}).starts(start_of(10))), ElementsAre(testing::Pair(16, 1)));
}

TEST_F(ProspectsTest, WhatThePromptsProgramBringsIsNotPaidTwice) {
  open({.cut = true, .open = true});
  const std::vector<plan::StartCost> starts = prospects({8}).starts(start_of(10));
  const auto by_chunk = std::find_if(starts.begin(), starts.end(),
                                     [](const auto& cost) { return cost.start.chunk == 8; });
  ASSERT_NE(by_chunk, starts.end());
  EXPECT_NEAR(by_chunk->prefill_compile.typical_s, 3 * 0.02, 1e-9) << "three parts";
  EXPECT_NEAR(by_chunk->decode_compile.typical_s, 0.02, 1e-9) << "attention alone";
}

TEST_F(ProspectsTest, ALimitCountsWhatIsHeld) {
  const plan::Needs needs{.programs = {decode(16)}, .first_use = {{}}, .now = 1, .reachable = 1};
  EXPECT_FALSE(prospects().state(needs, {}).bytes_free);
  EXPECT_EQ(prospects({16}, 100).state(needs, {}).bytes_free, 100);
}

TEST_F(ProspectsTest, TheLineIsWhatComesNextAndWhen) {
  measure(costs, "soon", decode(16), 0.005);
  const plan::Needs needs{.programs = {decode(16), decode(32)},
                          .first_use = {{}, {.steps = 6}},
                          .now = 1,
                          .reachable = 2};
  const plan::PlannerState state = prospects().state(needs, {.live = 10});
  ASSERT_EQ(state.line.size(), 2U);
  EXPECT_NEAR(state.line[1].first_use_s, 0.030, 1e-12);
  EXPECT_EQ(state.tokens_done, 10);
}

}  // namespace
}  // namespace ahead::runtime
