// A program's buffers and bindings, seen through a model that notices every wrong byte. May use:
// base, graph's program_spec.h, GoogleTest.
#include "compile/program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "compile/fake_backend.h"

namespace ahead::compile {
namespace {

using graph::ProgramShape;

constexpr std::int64_t kBlockRows = 4;

std::vector<float> logits_after(const std::vector<std::int32_t>& tokens) {
  FakeModel model;
  std::vector<float> values;
  for (const std::int32_t token : tokens) values = model.feed(token);
  return values;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

/// One sequence's cache, filled by the layout's definition.
class Cache {
 public:
  explicit Cache(std::int64_t rung) : rung_(static_cast<std::size_t>(rung)) {
    for (std::size_t i = 0; i < 2 * FakeModel::kLayers; ++i) {
      buffers_.emplace_back(rung_ * FakeModel::kKvHeads * FakeModel::kHeadDim, -1.0F);
    }
  }

  /// Puts the row of `token` at `position`.
  void put(std::int64_t position, std::int32_t token) {
    const auto at = static_cast<std::size_t>(position);
    const auto rows = static_cast<std::size_t>(kBlockRows);
    for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
      for (std::size_t head = 0; head < FakeModel::kKvHeads; ++head) {
        for (std::size_t dim = 0; dim < FakeModel::kHeadDim; ++dim) {
          const std::size_t tile = (at / rows * FakeModel::kKvHeads + head) * FakeModel::kHeadDim;
          buffers_[2 * layer][(tile + dim) * rows + at % rows] =
              FakeModel::element({layer, position, token, 0, head, dim});
          buffers_[2 * layer + 1][tile * rows + at % rows * FakeModel::kHeadDim + dim] =
              FakeModel::element({layer, position, token, 1, head, dim});
        }
      }
    }
  }
  void put_all(const std::vector<std::int32_t>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) put(static_cast<std::int64_t>(i), tokens[i]);
  }

  std::vector<KeyValue> views() {
    const std::size_t rows = static_cast<std::size_t>(kBlockRows);
    std::vector<KeyValue> layers;
    for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
      layers.push_back({{ElementType::kF32,
                         {rung_ / rows, FakeModel::kKvHeads, FakeModel::kHeadDim, rows},
                         buffers_[2 * layer].data()},
                        {ElementType::kF32,
                         {rung_ / rows, FakeModel::kKvHeads, rows, FakeModel::kHeadDim},
                         buffers_[2 * layer + 1].data()}});
    }
    return layers;
  }

 private:
  const std::size_t rung_;
  std::vector<std::vector<float>> buffers_;  // K and V by turns
};

struct Made {
  std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
  std::vector<std::shared_ptr<Artifact>> artifacts;
  std::unique_ptr<Program> program;
};

/// How the fake model is made a program.
enum class Parts { kWhole, kCut, kJoined };

FakeBackend::Options options_of(Parts parts) {
  FakeBackend::Options options{.block_rows = kBlockRows, .cut = parts != Parts::kWhole};
  if (parts == Parts::kJoined) options.joined_from = 0;
  return options;
}

Made make(const ProgramShape& shape, Parts parts = Parts::kWhole) {
  Made made;
  FakeBackend backend(options_of(parts), made.script);
  graph::ProgramSpec spec = backend.spec(shape);
  for (std::size_t part = 0; part < spec.parts.size(); ++part) {
    made.artifacts.push_back(backend.compile(shape, part));
  }
  made.program = std::make_unique<Program>(std::move(spec), made.artifacts);
  return made;
}

/// Feeds one sequence's next tokens, padded, behind `live` rows.
void feed(Program& program, std::int64_t live, const std::vector<std::int32_t>& tokens) {
  program.set_live_rows(0, live);
  for (std::size_t i = 0; i < program.tokens().size(); ++i) {
    program.tokens()[i] = i < tokens.size() ? tokens[i] : 0;
    program.positions()[i] = static_cast<std::int32_t>(live) + static_cast<std::int32_t>(i);
  }
  program.logit_rows()[0] = static_cast<std::int32_t>(tokens.size()) - 1;
  program.run();
}

class ProgramTest : public testing::TestWithParam<Parts> {};

std::string name_of(const testing::TestParamInfo<Parts>& parts) {
  switch (parts.param) {
    case Parts::kWhole:
      return "Whole";
    case Parts::kCut:
      return "Cut";
    case Parts::kJoined:
      break;
  }
  return "Joined";
}

INSTANTIATE_TEST_SUITE_P(Parts, ProgramTest,
                         testing::Values(Parts::kWhole, Parts::kCut, Parts::kJoined), name_of);

TEST_P(ProgramTest, FirstStepSeesNoCachedRow) {
  const Made made = make({.rung = 8}, GetParam());
  Cache cache(8);
  cache.put_all({9, 9, 9});  // dead
  made.program->bind_cache(0, cache.views());
  feed(*made.program, 0, {5});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({5}));
}

TEST_P(ProgramTest, ReadsTheBoundCacheInPlace) {
  const Made made = make({.rung = 12}, GetParam());
  Cache cache(12);
  made.program->bind_cache(0, cache.views());
  std::vector<std::int32_t> tokens;
  for (std::int32_t next = 7; tokens.size() < 12; next = (next * 5 + 3) % 53) {
    feed(*made.program, static_cast<std::int64_t>(tokens.size()), {next});
    cache.put(static_cast<std::int64_t>(tokens.size()), next);  // no bind in between
    tokens.push_back(next);
    EXPECT_EQ(copy(made.program->logits(0)), logits_after(tokens));
  }
}

TEST_P(ProgramTest, FewerLiveRowsAreMaskedAgain) {
  const Made made = make({.rung = 8}, GetParam());
  Cache cache(8);
  cache.put_all({1, 2, 3, 4, 5});
  made.program->bind_cache(0, cache.views());
  feed(*made.program, 5, {6});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({1, 2, 3, 4, 5, 6}));
  feed(*made.program, 2, {6});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({1, 2, 6}));
  feed(*made.program, 4, {6});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({1, 2, 3, 4, 6}));
}

TEST_P(ProgramTest, BindingAgainReplacesEveryLayer) {
  const Made made = make({.rung = 8}, GetParam());
  Cache first(8);
  first.put_all({1, 2, 3});
  Cache second(8);
  second.put_all({3, 2, 1});
  made.program->bind_cache(0, first.views());
  feed(*made.program, 3, {4});
  made.program->bind_cache(0, second.views());
  feed(*made.program, 3, {4});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({3, 2, 1, 4}));
}

TEST_P(ProgramTest, PrefillGivesTheWantedTokensLogitsBesidePadding) {
  const Made made = make({.tokens = 4, .rung = 8}, GetParam());
  Cache cache(8);
  cache.put_all({1, 2});
  made.program->bind_cache(0, cache.views());
  feed(*made.program, 2, {3, 4, 5});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({1, 2, 3, 4, 5}));
}

TEST_P(ProgramTest, NewRowsAreOneSequencesRowsInOrder) {
  const Made made = make({.tokens = 4, .rung = 8}, GetParam());
  Cache cache(8);
  cache.put_all({1, 2});
  made.program->bind_cache(0, cache.views());
  feed(*made.program, 2, {3, 4, 5});
  for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
    const KeyValue rows = made.program->new_rows(static_cast<std::int64_t>(layer), 0);
    for (std::size_t side = 0; side < 2; ++side) {
      const TensorView& view = side == 0 ? rows.k : rows.v;
      EXPECT_EQ(view.shape, (Shape{4, FakeModel::kKvHeads, FakeModel::kHeadDim}));
      const auto* values = static_cast<const float*>(view.data);
      for (std::size_t i = 0; i < 3; ++i) {
        const auto token = static_cast<std::int32_t>(3 + i);
        const auto position = static_cast<std::int64_t>(2 + i);
        EXPECT_EQ(values[(i * FakeModel::kKvHeads + 1) * FakeModel::kHeadDim + 2],
                  FakeModel::element({layer, position, token, side, 1, 2}));
      }
    }
  }
}

TEST_P(ProgramTest, ProgramsOfTheSameArtifactsDoNotShareBuffers) {
  const Made made = make({.rung = 8}, GetParam());
  const FakeBackend backend(options_of(GetParam()), made.script);
  Program other(backend.spec({.rung = 8}), made.artifacts);
  Cache cache(8);
  cache.put_all({1, 2});
  Cache other_cache(8);
  other_cache.put_all({7});
  made.program->bind_cache(0, cache.views());
  other.bind_cache(0, other_cache.views());
  feed(*made.program, 2, {3});
  feed(other, 1, {8});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({1, 2, 3}));
  EXPECT_EQ(copy(other.logits(0)), logits_after({7, 8}));
}

TEST_P(ProgramTest, SequencesHaveTheirOwnCacheLiveRowsLogitsAndRows) {
  const Made made = make({.batch = 2, .tokens = 2, .rung = 8}, GetParam());
  Program& program = *made.program;
  Cache first(8);
  first.put_all({1, 2, 3});
  Cache second(8);
  second.put_all({11});
  program.bind_cache(0, first.views());
  program.bind_cache(1, second.views());
  program.set_live_rows(0, 3);
  program.set_live_rows(1, 1);
  const std::vector<std::int32_t> tokens = {4, 5, 12, 0};
  const std::vector<std::int32_t> positions = {3, 4, 1, 2};
  std::copy(tokens.begin(), tokens.end(), program.tokens().begin());
  std::copy(positions.begin(), positions.end(), program.positions().begin());
  program.logit_rows()[0] = 1;
  program.logit_rows()[1] = 2;
  program.run();
  EXPECT_EQ(copy(program.logits(0)), logits_after({1, 2, 3, 4, 5}));
  EXPECT_EQ(copy(program.logits(1)), logits_after({11, 12}));
  const KeyValue rows = program.new_rows(1, 1);
  EXPECT_EQ(static_cast<const float*>(rows.v.data)[0], FakeModel::element({1, 1, 12, 1, 0, 0}));
}

/// Has a stop come during call `at` of the next run, counted from 1; before it, where that is 0.
struct StopAtCall {
  StopAtCall(FakeScript& script, std::size_t at) {
    if (at == 0) source.request_stop();
    script.on_call = [this, at] {
      if (++calls == at) source.request_stop();
    };
  }
  std::stop_source source;
  std::size_t calls = 0;
};

/// Stops during every call of a step, and before all: that many calls are made, and no more.
void expect_stops_at_every_call(Parts parts, std::size_t calls) {
  for (std::size_t at = 0; at <= calls; ++at) {
    SCOPED_TRACE(at);
    Made made = make({.tokens = 4, .rung = 8}, parts);
    Cache cache(8);
    made.program->bind_cache(0, cache.views());
    feed(*made.program, 0, {9, 8, 7, 6});  // leaves values that a stopped run may not be taken for
    StopAtCall stop(*made.script, at);
    EXPECT_EQ(made.program->run(stop.source.get_token()), at == calls);
    EXPECT_EQ(stop.calls, at);
    made.script->on_call = nullptr;
    feed(*made.program, 0, {1, 2, 3});
    EXPECT_EQ(copy(made.program->logits(0)), logits_after({1, 2, 3}));
  }
}

TEST(ProgramStopTest, NoCallBeginsBehindAStopAndTheNextRunIsAsGoodAsAny) {
  expect_stops_at_every_call(Parts::kCut, 2 + FakeModel::kLayers);
}

// The call that pauses runs to its end, the calls within it do not begin.
TEST(ProgramStopTest, AStopWithinACallLeavesOutTheCallsThereAndTheNextRunIsAsGoodAsAny) {
  expect_stops_at_every_call(Parts::kJoined, 1 + FakeModel::kLayers);
}

TEST(ProgramStopTest, ABatchStopsBetweenItsSequences) {
  constexpr std::size_t kCalls = 2 + 2 * FakeModel::kLayers;
  for (std::size_t at = 0; at <= kCalls; ++at) {
    SCOPED_TRACE(at);
    Made made = make({.batch = 2, .rung = 8}, Parts::kCut);
    Cache first(8);
    Cache second(8);
    made.program->bind_cache(0, first.views());
    made.program->bind_cache(1, second.views());
    made.program->logit_rows()[1] = 1;
    StopAtCall stop(*made.script, at);
    const std::vector<Program*> by_row(2, made.program.get());
    EXPECT_EQ(Program::run(by_row, stop.source.get_token()), at == kCalls);
    EXPECT_EQ(stop.calls, at);
  }
}

TEST(ProgramPauseTest, AnErrorWithinACallIsTheRunsAndTheNextRunIsAsGoodAsAny) {
  Made made = make({.rung = 8}, Parts::kJoined);
  Cache cache(8);
  made.program->bind_cache(0, cache.views());
  std::size_t calls = 0;
  made.script->on_call = [&] {
    if (++calls == 3) throw Error(ErrorKind::kDevice, "the second layer failed");
  };
  EXPECT_THROW(feed(*made.program, 0, {5}), Error);
  EXPECT_EQ(calls, 3U);
  made.script->on_call = nullptr;
  feed(*made.program, 0, {5});
  EXPECT_EQ(copy(made.program->logits(0)), logits_after({5}));
}

TEST(ProgramPauseTest, SequencesAtRungsOfTheirOwnAttendWithTheirOwnPrograms) {
  const auto script = std::make_shared<FakeScript>();
  FakeBackend backend(options_of(Parts::kJoined), script);
  const auto workspace = std::make_shared<Workspace>();
  const auto program_of = [&](std::int64_t rung) {
    const ProgramShape shape{.batch = 2, .rung = rung};
    graph::ProgramSpec spec = backend.spec(shape);
    std::vector<std::shared_ptr<Artifact>> artifacts;
    for (std::size_t part = 0; part < spec.parts.size(); ++part) {
      artifacts.push_back(backend.compile(shape, part));
    }
    return Program(std::move(spec), std::move(artifacts), workspace);
  };
  Program small = program_of(8);
  Program large = program_of(12);
  Cache first(8);
  first.put_all({1, 2});
  Cache second(12);
  second.put_all({3, 4, 5, 6, 7, 8, 9, 10, 11});
  small.bind_cache(0, first.views());
  small.set_live_rows(0, 2);
  large.bind_cache(1, second.views());
  large.set_live_rows(1, 9);
  const std::vector<std::int32_t> positions = {2, 9};
  std::copy(positions.begin(), positions.end(), small.positions().begin());
  small.tokens()[0] = 20;
  small.tokens()[1] = 30;
  small.logit_rows()[1] = 1;
  const std::vector<Program*> by_row = {&small, &large};
  EXPECT_TRUE(Program::run(by_row, {}));
  EXPECT_EQ(copy(small.logits(0)), logits_after({1, 2, 20}));
  EXPECT_EQ(copy(large.logits(1)), logits_after({3, 4, 5, 6, 7, 8, 9, 10, 11, 30}));
}

TEST(ProgramPauseTest, WhatHasNoSequenceIsLeftOut) {
  Made made = make({.batch = 2, .rung = 8}, Parts::kJoined);
  Cache cache(8);
  cache.put_all({1, 2});
  made.program->bind_cache(1, cache.views());
  made.program->set_live_rows(1, 2);
  made.program->tokens()[1] = 3;
  made.program->positions()[1] = 2;
  made.program->logit_rows()[1] = 1;
  std::size_t calls = 0;
  made.script->on_call = [&] { ++calls; };
  const std::vector<Program*> by_row = {nullptr, made.program.get()};
  EXPECT_TRUE(Program::run(by_row, {}));
  EXPECT_EQ(calls, 1 + FakeModel::kLayers);
  EXPECT_EQ(copy(made.program->logits(1)), logits_after({1, 2, 3}));
}

TEST(ProgramDevicesTest, AreNamedOnce) {
  const auto script = std::make_shared<FakeScript>();
  FakeBackend backend({.block_rows = kBlockRows, .cut = true}, script);
  const ProgramShape shape{.rung = 8};
  std::vector<std::shared_ptr<Artifact>> artifacts;
  for (const auto& devices : {std::vector<std::string>{"A"}, {"B", "A"}, {"B"}}) {
    script->devices[shape] = devices;
    artifacts.push_back(backend.compile(shape, artifacts.size()));
  }
  const Program program(backend.spec(shape), artifacts);
  EXPECT_EQ(program.execution_devices(), (std::vector<std::string>{"A", "B"}));
}

TEST(ProgramArtifactsTest, AreHeldAsLongAsTheProgram) {
  Made made = make({.rung = 8}, Parts::kCut);
  made.artifacts.clear();
  EXPECT_EQ(made.script->live_artifacts, 3);
  made.program.reset();
  EXPECT_EQ(made.script->live_artifacts, 0);
}

TEST(ProgramDeathTest, BrokenInvariantsStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Made made = make({.rung = 8});
  Cache other_rung(12);
  EXPECT_DEATH(made.program->bind_cache(0, other_rung.views()), "exactly the rung's shape");
  EXPECT_DEATH(made.program->set_live_rows(0, 9), "live rows fit the rung");
  EXPECT_DEATH(made.program->set_live_rows(0, -1), "live rows fit the rung");
  EXPECT_DEATH(static_cast<void>(made.program->new_rows(2, 0)), "the value asked for");
  const FakeBackend backend({.block_rows = kBlockRows}, made.script);
  EXPECT_DEATH(Program(backend.spec({.rung = 8}), {}), "one artifact a part");
}

}  // namespace
}  // namespace ahead::compile
