// The compile queue: states, kept errors, devices, sharing and release, by hand and on a thread.
// May use: base, graph's program_spec.h, GoogleTest.
#include "compile/program_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "compile/fake_backend.h"

namespace ahead::compile {
namespace {

using graph::ProgramShape;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr ProgramShape kDecode32{.rung = 32};
constexpr ProgramShape kDecode64{.rung = 64};
constexpr ProgramShape kPrefill32{.tokens = 16, .rung = 32};

/// Never stopped.
const std::stop_token kNoStop;

/// The error that `call` throws.
template <typename Call>
std::optional<Error> error_of(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

class ProgramStoreTest : public testing::Test {
 protected:
  void open(bool cut = false, const std::string& device = "FAKE") {
    backend = std::make_shared<FakeBackend>(FakeBackend::Options{.cut = cut}, script);
    store = std::make_unique<ProgramStore>(
        ProgramStore::Options{.backend = backend, .device = device, .helper = &helper}, executor,
        clock);
  }

  void SetUp() override {
    script->clock = &clock;
    script->compile_cost = [](const ProgramShape&, std::size_t) { return milliseconds(10); };
    open();
  }

  void run_all() {
    while (executor.run_one()) continue;
  }
  /// Compiles at once.
  void compile(const ProgramShape& shape) {
    store->start(shape, "because");
    run_all();
  }
  /// Lets go of a program and gives the executor the time to free it.
  void release(const ProgramShape& shape) {
    store->release(shape);
    store->free_released();
    run_all();
  }

  ManualClock clock;
  ManualExecutor executor;
  ManualExecutor helper;
  std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
  std::shared_ptr<FakeBackend> backend;
  std::unique_ptr<ProgramStore> store;
};

TEST_F(ProgramStoreTest, AProgramIsAbsentThenCompilingThenReady) {
  EXPECT_EQ(store->state(kDecode32), ProgramState::kAbsent);
  EXPECT_FALSE(store->compiling());
  store->start(kDecode32, "because");
  EXPECT_EQ(store->state(kDecode32), ProgramState::kCompiling);
  EXPECT_EQ(store->compiling(), kDecode32);
  EXPECT_TRUE(backend->compiles().empty()) << "nothing is compiled on the decode thread";
  ASSERT_TRUE(executor.run_one());
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
  EXPECT_FALSE(store->compiling());
  EXPECT_EQ(store->install(kDecode32)->shape(), kDecode32);
  EXPECT_EQ(store->install(kDecode32), store->install(kDecode32));
  EXPECT_EQ(store->state(kDecode64), ProgramState::kAbsent);
}

TEST_F(ProgramStoreTest, TheLogSaysWhatWasCompiledWhenAndWhy) {
  clock.advance(milliseconds(5));
  store->start(kPrefill32, "first things first");
  clock.advance(milliseconds(2));
  ASSERT_EQ(store->log().size(), 1U);
  EXPECT_FALSE(store->log()[0].end);
  EXPECT_EQ(store->log()[0].begin, milliseconds(5)) << "when it was asked for, so far";
  ASSERT_TRUE(executor.run_one());
  script->compile_failures[kDecode32] = "no";
  store->start(kDecode32, "then the rest");
  ASSERT_TRUE(executor.run_one());
  const auto log = store->log();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].shape, kPrefill32);
  EXPECT_EQ(log[0].reason, "first things first");
  EXPECT_EQ(log[0].begin, milliseconds(7)) << "waiting in the queue is no compiling";
  EXPECT_EQ(log[0].end, milliseconds(17));
  EXPECT_FALSE(log[0].failed);
  EXPECT_EQ(log[1].shape, kDecode32);
  EXPECT_EQ(log[1].reason, "then the rest");
  EXPECT_EQ(log[1].begin, milliseconds(17));
  EXPECT_EQ(log[1].end, milliseconds(27));
  EXPECT_TRUE(log[1].failed);
}

TEST_F(ProgramStoreTest, AFailureIsKeptAndThrownAtEveryInstall) {
  script->compile_failures[kDecode64] = "Exception from somewhere.cc:12\nCheck failed\nno memory\n";
  compile(kDecode64);
  EXPECT_EQ(store->state(kDecode64), ProgramState::kFailed);
  for (int i = 0; i < 2; ++i) {
    const auto error = error_of([&] { return store->install(kDecode64); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::kCompileFailed);
    EXPECT_THAT(error->what(), AllOf(HasSubstr("decode@64"), HasSubstr("FAKE"),
                                     HasSubstr("no memory"), Not(HasSubstr("somewhere.cc"))));
  }
  compile(kDecode32);  // the queue goes on
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
}

TEST_F(ProgramStoreTest, AnErrorOfTheBackEndStaysAsItIs) {
  script->compile_cost = [](const ProgramShape&, std::size_t) -> std::chrono::nanoseconds {
    throw Error(ErrorKind::kUnsupportedModel, "the very words");
  };
  compile(kDecode32);
  const auto error = error_of([&] { return store->install(kDecode32); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kUnsupportedModel);
  EXPECT_STREQ(error->what(), "the very words");
}

TEST_F(ProgramStoreTest, APartOnAnotherDeviceFailsNamingIt) {
  for (const bool cut : {false, true}) {
    open(cut);
    script->devices[kDecode32] = {"FAKE", "ELSEWHERE"};
    compile(kDecode32);
    EXPECT_EQ(store->state(kDecode32), ProgramState::kFailed);
    const auto error = error_of([&] { return store->install(kDecode32); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::kDevice);
    EXPECT_THAT(error->what(), AllOf(HasSubstr(cut ? "'rows'" : "'whole'"), HasSubstr("decode@32"),
                                     HasSubstr("FAKE, ELSEWHERE"), HasSubstr("not on FAKE")));
    EXPECT_TRUE(store->log().back().failed);
    EXPECT_EQ(script->live_artifacts, 0);
  }
}

TEST_F(ProgramStoreTest, APartThatReportsNoDeviceFails) {
  script->devices[kDecode32] = {};
  compile(kDecode32);
  const auto error = error_of([&] { return store->install(kDecode32); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("runs on nothing"));
}

TEST_F(ProgramStoreTest, ADeviceOfTheNamedKindCountsAsTheNamed) {
  open(false, "GPU");
  script->devices[kDecode32] = {"GPU.0"};
  script->devices[kDecode64] = {"GPUX"};
  compile(kDecode32);
  compile(kDecode64);
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
  EXPECT_EQ(store->state(kDecode64), ProgramState::kFailed);
}

TEST_F(ProgramStoreTest, ReleaseFreesTheArtifacts) {
  release(kDecode32);  // absent: nothing happens
  compile(kDecode32);
  compile(kDecode64);
  EXPECT_EQ(script->live_artifacts, 2);
  release(kDecode32);
  EXPECT_EQ(script->live_artifacts, 1);
  EXPECT_EQ(store->state(kDecode32), ProgramState::kAbsent);
  EXPECT_EQ(store->state(kDecode64), ProgramState::kReady);
  compile(kDecode32);
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
}

TEST_F(ProgramStoreTest, ReleaseLeavesTheFreeingToTheExecutor) {
  compile(kDecode32);
  store->release(kDecode32);
  EXPECT_EQ(store->state(kDecode32), ProgramState::kAbsent);
  EXPECT_EQ(script->live_artifacts, 1) << "it takes time that the decode thread has not";
  store->start(kDecode64, "because");
  script->compile_cost = [this](const ProgramShape&, std::size_t) {
    EXPECT_EQ(script->live_artifacts, 0) << "what was let go of before goes before";
    return milliseconds(0);
  };
  run_all();
  EXPECT_EQ(script->live_artifacts, 1);
}

TEST_F(ProgramStoreTest, ReleasedProgramsAreFreedOneByOneWhereAsked) {
  compile(kDecode32);
  compile(kDecode64);
  store->free_one();
  EXPECT_FALSE(executor.run_one()) << "nothing was released";
  store->release(kDecode64);
  store->release(kDecode32);
  EXPECT_FALSE(executor.run_one()) << "nobody asked";
  store->free_one();
  store->free_one();
  EXPECT_TRUE(executor.run_one());
  EXPECT_FALSE(executor.run_one()) << "one was being freed";
  EXPECT_EQ(script->live_artifacts, 1);
  EXPECT_EQ(store->released(), 1U);
  store->free_one();
  run_all();
  EXPECT_EQ(script->live_artifacts, 0);
  EXPECT_EQ(store->released(), 0U);
}

TEST_F(ProgramStoreTest, PartsThatTheNextProgramNeedsOutliveTheProgramThatIsReleased) {
  open(true);
  compile(kDecode32);
  ASSERT_EQ(store->missing(kDecode64).kinds, "attend");
  store->release(kDecode32);
  compile(kDecode64);
  EXPECT_EQ(backend->compiles().size(), 4U) << "rows, attend and head, then attend alone";
  EXPECT_EQ(script->live_artifacts, 3);
}

TEST_F(ProgramStoreTest, NothingIsFreedBesideACompile) {
  compile(kDecode32);
  store->start(kDecode64, "because");
  store->release(kDecode32);
  store->free_one();
  run_all();
  EXPECT_EQ(script->live_artifacts, 2);
}

TEST_F(ProgramStoreTest, WhatServesEveryProgramIsKept) {
  backend = std::make_shared<FakeBackend>(FakeBackend::Options{.cut = true, .open = true}, script);
  store = std::make_unique<ProgramStore>(
      ProgramStore::Options{.backend = backend, .device = "FAKE", .helper = &helper}, executor,
      clock);
  compile(kDecode32);
  EXPECT_EQ(script->live_artifacts, 3);
  release(kDecode32);
  EXPECT_EQ(script->live_artifacts, 2) << "the next request begins with it";
  EXPECT_EQ(store->missing(kPrefill32).kinds, "attend");
  store.reset();
  EXPECT_EQ(script->live_artifacts, 0);
}

TEST_F(ProgramStoreTest, AReleasedProgramLivesAsLongAsItIsHeld) {
  compile(kDecode32);
  auto program = store->install(kDecode32);
  release(kDecode32);
  EXPECT_EQ(script->live_artifacts, 1);
  program.reset();
  EXPECT_EQ(script->live_artifacts, 0);
}

TEST_F(ProgramStoreTest, AFailedProgramCanBeTriedAgainOnceReleased) {
  script->compile_failures[kDecode32] = "no";
  compile(kDecode32);
  release(kDecode32);
  script->compile_failures.clear();
  compile(kDecode32);
  EXPECT_EQ(store->install(kDecode32)->shape(), kDecode32);
}

// It stands at another place in either form: what counts is its name.
TEST_F(ProgramStoreTest, FormsShareThePartThatTheyHaveInCommon) {
  backend =
      std::make_shared<FakeBackend>(FakeBackend::Options{.cut = true, .joined_from = 1}, script);
  store = std::make_unique<ProgramStore>(
      ProgramStore::Options{.backend = backend, .device = "FAKE", .helper = &helper}, executor,
      clock);
  constexpr ProgramShape kJoined32{.rung = 32, .tier = 1};
  for (const ProgramShape& shape : {kDecode32, kJoined32}) compile(shape);
  using Compile = FakeBackend::Compile;
  EXPECT_EQ(
      backend->compiles(),
      (std::vector<Compile>{
          {kDecode32, "rows"}, {kDecode32, "attend"}, {kDecode32, "head"}, {kJoined32, "bodies"}}));
}

TEST_F(ProgramStoreTest, PartsAreSharedByTheProgramsTheyDoNotTellApart) {
  open(true);
  constexpr ProgramShape kBatch32{.batch = 2, .rung = 32};
  for (const ProgramShape& shape : {kDecode32, kDecode64, kPrefill32, kBatch32}) compile(shape);
  using Compile = FakeBackend::Compile;
  EXPECT_EQ(backend->compiles(), (std::vector<Compile>{{kDecode32, "rows"},
                                                       {kDecode32, "attend"},
                                                       {kDecode32, "head"},
                                                       {kDecode64, "attend"},
                                                       {kPrefill32, "rows"},
                                                       {kPrefill32, "attend"},
                                                       {kPrefill32, "head"},
                                                       {kBatch32, "rows"},
                                                       {kBatch32, "head"}}));
  EXPECT_EQ(script->live_artifacts, 9);
  release(kBatch32);
  release(kPrefill32);
  EXPECT_EQ(script->live_artifacts, 4);
  release(kDecode32);
  EXPECT_EQ(script->live_artifacts, 3) << "decode@64 holds the parts that every rung shares";
  release(kDecode64);
  EXPECT_EQ(script->live_artifacts, 0);
  compile(kDecode64);
  EXPECT_EQ(backend->compiles().size(), 12U) << "parts nobody holds are compiled again";
}

TEST_F(ProgramStoreTest, SettledListsReadyAndFailedPrograms) {
  EXPECT_TRUE(store->settled().empty());
  script->compile_failures[kDecode32] = "no";
  compile(kDecode64);
  compile(kDecode32);
  store->start(kPrefill32, "because");
  EXPECT_EQ(store->settled(), (std::vector<ProgramShape>{kDecode32, kDecode64}));
}

TEST_F(ProgramStoreTest, WaitRunsUntilTheProgramIsSettled) {
  store->start(kDecode32, "because");
  EXPECT_TRUE(store->wait(kDecode32, kNoStop));
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
  EXPECT_EQ(clock.now(), milliseconds(10));
  script->compile_failures[kDecode64] = "no";
  store->start(kDecode64, "because");
  EXPECT_TRUE(store->wait(kDecode64, kNoStop)) << "a failure settles it too";
}

TEST_F(ProgramStoreTest, WaitForWhatIsNotUnderWayReturnsAtOnce) {
  EXPECT_TRUE(store->wait(kDecode32, kNoStop));
  store->start(kDecode64, "because");
  EXPECT_TRUE(store->wait(kDecode32, kNoStop));
  EXPECT_EQ(store->state(kDecode64), ProgramState::kCompiling);
}

TEST_F(ProgramStoreTest, AStopEndsTheWaitAndNotTheCompile) {
  std::stop_source source;
  source.request_stop();
  store->start(kDecode32, "because");
  EXPECT_FALSE(store->wait(kDecode32, source.get_token()));
  EXPECT_EQ(store->state(kDecode32), ProgramState::kCompiling);
  EXPECT_TRUE(store->wait(kDecode32, kNoStop));
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
}

TEST_F(ProgramStoreTest, AQueuedCompileOutlivesTheStore) {
  store->start(kDecode32, "because");
  store.reset();
  ASSERT_TRUE(executor.run_one());
  EXPECT_EQ(backend->compiles().size(), 1U);
  EXPECT_EQ(script->live_artifacts, 0) << "what nobody wants is freed";
}

using ProgramStoreDeathTest = ProgramStoreTest;

TEST_F(ProgramStoreDeathTest, BrokenInvariantsStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(store->install(kDecode32)), "only a settled program");
  store->start(kDecode32, "because");
  EXPECT_DEATH(store->start(kDecode64, "because"), "one background compile at a time");
  EXPECT_DEATH(static_cast<void>(store->install(kDecode32)), "only a ready program");
  EXPECT_DEATH(store->release(kDecode32), "only a settled program is released");
  ASSERT_TRUE(executor.run_one());
  EXPECT_DEATH(store->start(kDecode32, "because"), "only an absent program");
}

/// A real compile thread whose compiles take until they are let go.
class ThreadedStoreTest : public testing::Test {
 protected:
  std::latch begun{1};
  std::latch go_on{1};
  SteadyClock clock;
  std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
  std::shared_ptr<FakeBackend> backend =
      std::make_shared<FakeBackend>(FakeBackend::Options{}, script);
  ThreadExecutor helper{{}};
  std::optional<ThreadExecutor> executor{std::in_place, ThreadExecutor::Options{}};
  std::unique_ptr<ProgramStore> store = std::make_unique<ProgramStore>(
      ProgramStore::Options{.backend = backend, .device = "FAKE", .helper = &helper}, *executor,
      clock);

  void SetUp() override {
    script->compile_cost = [this](const ProgramShape&, std::size_t) {
      begun.count_down();
      go_on.wait();
      return std::chrono::nanoseconds(0);
    };
  }
};

TEST_F(ThreadedStoreTest, AStopEndsTheWaitWhileTheCompileRunsOn) {
  std::stop_source source;
  ThreadExecutor stopper({});
  store->start(kDecode32, "because");
  stopper.post([&] {
    begun.wait();
    source.request_stop();
  });
  EXPECT_FALSE(store->wait(kDecode32, source.get_token()));
  EXPECT_EQ(store->state(kDecode32), ProgramState::kCompiling);
  EXPECT_EQ(store->compiling(), kDecode32);
  stopper.post([&] { go_on.count_down(); });
  EXPECT_TRUE(store->wait(kDecode32, kNoStop));
  EXPECT_EQ(store->state(kDecode32), ProgramState::kReady);
  EXPECT_EQ(store->install(kDecode32)->shape(), kDecode32);
}

TEST_F(ThreadedStoreTest, DestroyingTheStoreDoesNotWaitForTheCompile) {
  store->start(kDecode32, "because");
  begun.wait();
  store.reset();
  go_on.count_down();
  executor.reset();
  EXPECT_EQ(backend->compiles().size(), 1U);
  EXPECT_EQ(script->live_artifacts, 0);
}

}  // namespace
}  // namespace ahead::compile
