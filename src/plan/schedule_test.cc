// What a request needs, and every rule of the schedules as state -> decision. May use: base,
// GoogleTest.
#include "plan/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace ahead::plan {

static std::ostream& operator<<(std::ostream& out, const Need& need) {
  return out << "{" << need.tokens << ", " << need.rung << "}";
}

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// ---- needs -----------------------------------------------------------------------------------

/// A request of one prompt, at its begin.
struct OnePrompt {
  std::vector<std::int64_t> ladder;
  std::int64_t prompt_tokens = 0;
  std::int64_t chunk = 0;
  std::int64_t max_new_tokens = 0;
};

NeedsQuery query_of(const OnePrompt& one) {
  const std::int64_t steps = one.max_new_tokens - 1;  // the first token comes from prefill
  return {.ladder = one.ladder,
          .sequences = {{.prompt = one.prompt_tokens,
                         .most = steps > kNoLimit - one.prompt_tokens ? kNoLimit
                                                                      : one.prompt_tokens + steps}},
          .chunk = one.chunk};
}

struct NeedsCase {
  std::string name;
  OnePrompt query;
  std::vector<Need> programs;
  std::size_t reachable;
};

void PrintTo(const NeedsCase& test, std::ostream* out) { *out << test.name; }

class NeedsTest : public testing::TestWithParam<NeedsCase> {};

TEST_P(NeedsTest, ListsProgramsInOrderOfUse) {
  const Needs needs = needs_of(query_of(GetParam().query));
  EXPECT_EQ(needs.programs, GetParam().programs);
  EXPECT_EQ(needs.reachable, GetParam().reachable);
}

INSTANTIATE_TEST_SUITE_P(
    Prompt, NeedsTest,
    testing::Values(
        NeedsCase{"WithinFirstRung",
                  {{16, 32, 64}, 4, 8, kNoLimit},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  4},
        NeedsCase{"OneToken", {{16, 32}, 1, 8, kNoLimit}, {{8, 16}, {1, 16}, {1, 32}}, 3},
        // The first step already needs a rung above the prompt.
        NeedsCase{
            "FillsFirstRung", {{16, 32, 64}, 16, 8, kNoLimit}, {{8, 16}, {1, 32}, {1, 64}}, 3},
        NeedsCase{"OneShortOfFirstRung",
                  {{16, 32, 64}, 15, 8, kNoLimit},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  4},
        NeedsCase{"OneOverFirstRung",
                  {{16, 32, 64}, 17, 8, kNoLimit},
                  {{8, 16}, {8, 32}, {1, 32}, {1, 64}},
                  4},
        NeedsCase{"OverTwoRungs",
                  {{16, 32, 64}, 40, 8, kNoLimit},
                  {{8, 16}, {8, 32}, {8, 64}, {1, 64}},
                  4},
        NeedsCase{"FillsLastRung", {{16, 32}, 32, 8, kNoLimit}, {{8, 16}, {8, 32}}, 2},
        NeedsCase{"OneRungLadder", {{64}, 40, 8, kNoLimit}, {{8, 64}, {1, 64}}, 2},
        NeedsCase{
            "ChunkLargerThanARung", {{16, 64}, 20, 32, kNoLimit}, {{16, 16}, {32, 64}, {1, 64}}, 3},
        NeedsCase{
            "ChunkOfOneIsDecode", {{16, 32, 64}, 20, 1, kNoLimit}, {{1, 16}, {1, 32}, {1, 64}}, 3},
        NeedsCase{"ChunkOfOneFillsFirstRung", {{16, 32}, 16, 1, kNoLimit}, {{1, 16}, {1, 32}}, 2}),
    [](const auto& case_info) { return case_info.param.name; });

// 4 prompt tokens on {16, 32, 64}: a request for n tokens takes n - 1 steps from 4 live rows on.
INSTANTIATE_TEST_SUITE_P(
    TokenLimit, NeedsTest,
    testing::Values(
        NeedsCase{"OneTokenTakesNoStep",
                  {{16, 32, 64}, 4, 8, 1},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  1},
        NeedsCase{"TwoTokensTakeOneStep",
                  {{16, 32, 64}, 4, 8, 2},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  2},
        NeedsCase{"LastStepFillsTheRung",
                  {{16, 32, 64}, 4, 8, 13},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  2},
        NeedsCase{"FirstStepOverTheRung",
                  {{16, 32, 64}, 4, 8, 14},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  3},
        NeedsCase{"FirstStepOverTwoRungs",
                  {{16, 32, 64}, 4, 8, 30},
                  {{8, 16}, {1, 16}, {1, 32}, {1, 64}},
                  4},
        NeedsCase{"FullPromptAndOneToken", {{16, 32}, 16, 8, 1}, {{8, 16}, {1, 32}}, 1},
        NeedsCase{"FullPromptAndOneStep", {{16, 32}, 16, 8, 2}, {{8, 16}, {1, 32}}, 2},
        NeedsCase{"ChunkOfOneTakesNoFurtherProgram", {{16, 32}, 4, 1, 13}, {{1, 16}, {1, 32}}, 1},
        NeedsCase{"ChunkOfOneFirstStepOverTheRung", {{16, 32}, 4, 1, 14}, {{1, 16}, {1, 32}}, 2}),
    [](const auto& case_info) { return case_info.param.name; });

TEST(NeedsDeathTest, APromptThatCannotBeIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(needs_of(query_of({{16}, 0, 8, 1}))), "at least one token");
  EXPECT_DEATH(static_cast<void>(needs_of(query_of({{16}, 17, 8, 1}))), "fits the last rung");
  EXPECT_DEATH(static_cast<void>(needs_of(query_of({{}, 1, 8, 1}))), "a ladder and a chunk");
  EXPECT_DEATH(static_cast<void>(needs_of(query_of({{16}, 1, 0, 1}))), "a ladder and a chunk");
}

// ---- batches -----------------------------------------------------------------------------------

TEST(BatchNeedsTest, PromptsGoAloneThroughTheRungsOfTheLongest) {
  const Needs needs =
      needs_of({.ladder = {16, 32, 64},
                .sequences = {{.prompt = 4, .most = 99}, {.prompt = 40, .most = 99}},
                .chunk = 8,
                .batch = 2});
  EXPECT_EQ(needs.programs, (std::vector<Need>{{8, 16}, {8, 32}, {8, 64}, {1, 64, 2}}));
  EXPECT_EQ(needs.now, 1U);
}

TEST(BatchNeedsTest, WithoutRungsOfTheirOwnAllDecodeWhereTheLongestIs) {
  const NeedsQuery query{
      .ladder = {16, 32, 64},
      .sequences = {{.live = 4, .prompt = 4, .most = 10}, {.live = 20, .prompt = 20, .most = 40}},
      .chunk = 8,
      .batch = 2};
  const Needs needs = needs_of(query);
  EXPECT_EQ(needs.programs, (std::vector<Need>{{1, 32, 2}, {1, 64, 2}}));
  EXPECT_EQ(needs.now, 1U);
  EXPECT_EQ(needs.reachable, 2U);
}

TEST(BatchNeedsTest, APromptThatFillsTheLastRungTakesNoStep) {
  for (const bool own_rungs : {false, true}) {
    const Needs needs =
        needs_of({.ladder = {16, 32},
                  .sequences = {{.prompt = 32, .most = 99}, {.prompt = 5, .most = 99}},
                  .chunk = 8,
                  .batch = 2,
                  .own_rungs = own_rungs});
    EXPECT_EQ(needs.programs, (std::vector<Need>{{8, 16}, {8, 32}, {1, 16, 2}, {1, 32, 2}}));
  }
}

TEST(BatchNeedsTest, WhenTheLongestEndsTheOthersStayWhereTheyAre) {
  const Needs needs = needs_of({.ladder = {16, 32, 64, 128},
                                .sequences = {{.live = 20, .prompt = 4, .most = 70}},
                                .chunk = 8,
                                .batch = 2,
                                .least_rung = 64});
  EXPECT_EQ(needs.programs, (std::vector<Need>{{1, 64, 2}, {1, 128, 2}}));
  EXPECT_EQ(needs.now, 1U);
  EXPECT_EQ(needs.reachable, 2U);
}

TEST(BatchNeedsTest, WithRungsOfTheirOwnTheOrderIsThatOfFirstUse) {
  // Rows at 14, 60 and 4 live: rungs 16 and 64 now, 32 after 2 steps, 128 after 4.
  const Needs needs = needs_of({.ladder = {16, 32, 64, 128},
                                .sequences = {{.live = 14, .prompt = 14, .most = 99},
                                              {.live = 60, .prompt = 60, .most = 99},
                                              {.live = 4, .prompt = 4, .most = 99}},
                                .chunk = 8,
                                .batch = 3,
                                .own_rungs = true});
  EXPECT_EQ(needs.programs, (std::vector<Need>{{1, 16, 3}, {1, 64, 3}, {1, 32, 3}, {1, 128, 3}}));
  EXPECT_EQ(needs.now, 2U);
  EXPECT_EQ(needs.reachable, 4U);
}

TEST(BatchNeedsTest, ARungThatNoLimitReachesComesLast) {
  const Needs needs = needs_of(
      {.ladder = {16, 32, 64, 128},
       .sequences = {{.live = 40, .prompt = 40, .most = 99}, {.live = 4, .prompt = 4, .most = 16}},
       .chunk = 8,
       .batch = 2,
       .own_rungs = true});
  EXPECT_EQ(needs.programs, (std::vector<Need>{{1, 16, 2}, {1, 64, 2}, {1, 128, 2}, {1, 32, 2}}));
  EXPECT_EQ(needs.reachable, 3U);
}

TEST(BatchNeedsTest, AChunkOfOneIsNoDecodeProgramOfABatch) {
  const Needs needs = needs_of({.ladder = {16, 32},
                                .sequences = {{.prompt = 4, .most = 99}, {.prompt = 5, .most = 99}},
                                .chunk = 1,
                                .batch = 2});
  EXPECT_EQ(needs.programs, (std::vector<Need>{{1, 16}, {1, 16, 2}, {1, 32, 2}}));
}

TEST(RungAboveTest, HasARowBeyondTheLiveOnes) {
  EXPECT_EQ(rung_above({16, 32}, 0), 16);
  EXPECT_EQ(rung_above({16, 32}, 15), 16);
  EXPECT_EQ(rung_above({16, 32}, 16), 32);
  EXPECT_EQ(rung_above({16, 32}, 32), 32);
}

TEST(ChunkTest, IsNeverLargerThanTheRung) {
  EXPECT_EQ(chunk_on(64, 128), 64);
  EXPECT_EQ(chunk_on(128, 128), 128);
  EXPECT_EQ(chunk_on(256, 128), 128);
}

// ---- decisions -------------------------------------------------------------------------------

/// One letter a need: absent, compiling, ready, failed.
std::vector<Status> statuses(std::string_view letters) {
  std::vector<Status> status;
  for (const char letter : letters) {
    status.push_back(letter == 'A'   ? Status::kAbsent
                     : letter == 'C' ? Status::kCompiling
                     : letter == 'R' ? Status::kReady
                                     : Status::kFailed);
  }
  return status;
}

struct DecideCase {
  std::string name;
  Schedule schedule;
  std::string status;
  std::size_t current;
  Action action;
  std::size_t need;
  std::string reason;  ///< a part of it
  bool first_token_out = false;
  bool other_compiling = false;
  std::size_t reachable = 99;
  bool switching = false;
};

void PrintTo(const DecideCase& test, std::ostream* out) { *out << test.name; }

class DecideTest : public testing::TestWithParam<DecideCase> {};

TEST_P(DecideTest, FollowsTheRule) {
  const DecideCase& test = GetParam();
  const Decision decision = decide({.schedule = test.schedule,
                                    .status = statuses(test.status),
                                    .reachable = std::min(test.reachable, test.status.size()),
                                    .current = test.current,
                                    .first_token_out = test.first_token_out,
                                    .switching = test.switching,
                                    .other_compiling = test.other_compiling});
  EXPECT_EQ(decision.action, test.action);
  EXPECT_EQ(decision.need, test.need);
  EXPECT_NE(decision.reason.find(test.reason), std::string::npos) << decision.reason;
}

constexpr auto kStart = Action::kStart;
constexpr auto kWait = Action::kWait;
constexpr auto kWaitOther = Action::kWaitOther;
constexpr auto kProceed = Action::kProceed;

constexpr auto kEager = Schedule::kEager;
INSTANTIATE_TEST_SUITE_P(
    Eager, DecideTest,
    testing::Values(
        DecideCase{"StartsTheFirst", kEager, "AAA", 0, kStart, 0, "whole ladder"},
        DecideCase{"WaitsForTheFirst", kEager, "CAA", 0, kWait, 0, "the next step needs it"},
        DecideCase{"StartsTheNext", kEager, "RAA", 0, kStart, 1, "before the first token"},
        DecideCase{"WaitsForTheNext", kEager, "RCA", 0, kWait, 1, "before the first token"},
        DecideCase{"StartsTheLast", kEager, "RRA", 0, kStart, 2, "whole ladder"},
        DecideCase{"ProceedsWithAll", kEager, "RRR", 0, kProceed, 0, "ladder is compiled"},
        DecideCase{"GoesOnPastAFailedRung", kEager, "RFA", 0, kStart, 2, "whole ladder"},
        DecideCase{"ProceedsWithAFailedRung", kEager, "RFR", 0, kProceed, 0, "is compiled"},
        DecideCase{"EndsWhereTheCurrentFailed", kEager, "FAA", 0, kProceed, 0, "failed"},
        DecideCase{"DoesNotWaitAfterTheFirstToken", kEager, "RCR", 0, kProceed, 0, "is there",
                   true},
        DecideCase{"WaitsForTheCurrentAfterTheFirstToken", kEager, "RRC", 2, kWait, 2,
                   "the next step needs it", true},
        DecideCase{"CompilesAllWhileTheFirstIsFetched", kEager, "RAA", 0, kStart, 1, "whole ladder",
                   false, false, 99, true},
        DecideCase{"CompilesThePartOutOfReachToo", kEager, "RA", 0, kStart, 1, "whole ladder",
                   false, false, 1},
        DecideCase{"AnotherRequestsCompileIsInTheWay", kEager, "RAA", 0, kWaitOther, 0,
                   "one compile at a time", false, true},
        DecideCase{"AnotherRequestsCompileIsNotWithAll", kEager, "RRR", 0, kProceed, 0,
                   "is compiled", false, true}),
    [](const auto& case_info) { return case_info.param.name; });

constexpr auto kOneAhead = Schedule::kOneAhead;
INSTANTIATE_TEST_SUITE_P(
    OneAhead, DecideTest,
    testing::Values(
        DecideCase{"StartsWhatTheNextStepNeeds", kOneAhead, "AAA", 0, kStart, 0, "needs it"},
        DecideCase{"WaitsForWhatTheNextStepNeeds", kOneAhead, "CAA", 0, kWait, 0, "needs it"},
        DecideCase{"StartsTheSuccessor", kOneAhead, "RAA", 0, kStart, 1, "one ahead"},
        DecideCase{"RunsBesideTheSuccessorsCompile", kOneAhead, "RCA", 0, kProceed, 0, "is there"},
        DecideCase{"StartsNoneBeyondTheSuccessor", kOneAhead, "RRA", 0, kProceed, 0,
                   "successor is under way"},
        DecideCase{"StartsTheNextSuccessorAfterASwitch", kOneAhead, "RRA", 1, kStart, 2,
                   "one ahead"},
        DecideCase{"WaitsAtTheBoundaryForALateSuccessor", kOneAhead, "RCA", 1, kWait, 1,
                   "needs it"},
        DecideCase{"WaitsForTheQueueBeforeTheCurrent", kOneAhead, "ACA", 0, kWait, 1,
                   "needs another"},
        DecideCase{"HasNoSuccessorAtTheLast", kOneAhead, "RRR", 2, kProceed, 2, "request ends"},
        DecideCase{"StartsNoSuccessorWhileTheCurrentIsFetched", kOneAhead, "RRA", 1, kProceed, 1,
                   "once this program is in use", true, false, 99, true},
        DecideCase{"StartsTheCurrentToFetchIt", kOneAhead, "RAA", 1, kStart, 1, "needs it", true,
                   false, 99, true},
        DecideCase{"StartsNothingOutOfReach", kOneAhead, "RA", 0, kProceed, 0, "request ends",
                   false, false, 1},
        DecideCase{"KeepsAFailedSuccessor", kOneAhead, "RFA", 0, kProceed, 0, "under way"},
        DecideCase{"EndsWhereTheCurrentFailed", kOneAhead, "RFA", 1, kProceed, 1, "failed"},
        DecideCase{"EndsWhereTheCurrentFailedBesideACompile", kOneAhead, "FC", 0, kProceed, 0,
                   "failed"},
        DecideCase{"AnotherRequestsCompileDelaysTheSuccessor", kOneAhead, "RAA", 0, kProceed, 0,
                   "is there", true, true},
        DecideCase{"AnotherRequestsCompileIsInTheWay", kOneAhead, "AAA", 0, kWaitOther, 0,
                   "one compile at a time", false, true}),
    [](const auto& case_info) { return case_info.param.name; });

constexpr auto kOnDemand = Schedule::kOnDemand;
INSTANTIATE_TEST_SUITE_P(
    OnDemand, DecideTest,
    testing::Values(
        DecideCase{"StartsWhatTheNextStepNeeds", kOnDemand, "AAA", 0, kStart, 0, "on demand"},
        DecideCase{"WaitsForIt", kOnDemand, "CAA", 0, kWait, 0, "needs it"},
        DecideCase{"StartsNothingBefore", kOnDemand, "RAA", 0, kProceed, 0, "before it is needed"},
        DecideCase{"StartsAtTheBoundary", kOnDemand, "RAA", 1, kStart, 1, "on demand", true},
        DecideCase{"WaitsAtTheBoundary", kOnDemand, "RCA", 1, kWait, 1, "needs it", true},
        DecideCase{"ProceedsWhenItIsThere", kOnDemand, "RRA", 1, kProceed, 1, "before it is needed",
                   true},
        DecideCase{"EndsWhereTheCurrentFailed", kOnDemand, "RFA", 1, kProceed, 1, "failed", true},
        DecideCase{"WaitsForTheQueueBeforeTheCurrent", kOnDemand, "AC", 0, kWait, 1,
                   "needs another"},
        DecideCase{"AnotherRequestsCompileIsInTheWay", kOnDemand, "RA", 1, kWaitOther, 1,
                   "one compile at a time", true, true}),
    [](const auto& case_info) { return case_info.param.name; });

TEST(BatchDecideTest, EverythingTheNextStepNeedsComesBeforeASuccessor) {
  State state{.schedule = Schedule::kOneAhead,
              .status = statuses("RAA"),
              .reachable = 3,
              .now = 2,
              .first_token_out = true};
  Decision decision = decide(state);
  EXPECT_EQ(decision.action, Action::kStart);
  EXPECT_EQ(decision.need, 1U);
  state.status = statuses("RCA");
  EXPECT_EQ(decide(state).action, Action::kWait);
  state.status = statuses("RRA");
  decision = decide(state);
  EXPECT_EQ(decision.action, Action::kStart);
  EXPECT_EQ(decision.need, 2U);
  state.status = statuses("RFA");
  decision = decide(state);
  EXPECT_EQ(decision.action, Action::kProceed);
  EXPECT_EQ(decision.need, 1U) << "the one that failed";
}

TEST(DecideDeathTest, ACurrentThatIsNoneOfTheNeedsIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(decide({.status = statuses("RR"), .current = 2})),
               "among the needs");
  EXPECT_DEATH(static_cast<void>(decide({.status = statuses("RR"), .current = 1, .now = 2})),
               "among the needs");
}

}  // namespace
}  // namespace ahead::plan
