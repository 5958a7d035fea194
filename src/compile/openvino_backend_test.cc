// Forms of one small decoder on the CPU device, and what becomes of errors where a graph pauses.
#include "compile/openvino_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "compile/openvino_request.h"
#include "compile/program.h"
#include "graph/pause.h"
#include "graph/test_decoder.h"
#include "openvino/op/abs.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"
#include "openvino/runtime/properties.hpp"

namespace ahead::compile {
namespace {

constexpr std::int64_t kRung = 32;
constexpr std::size_t kBlockRows = 16;

/// Tier 0: whole, 1: cut at attention, 2: joined.
OpenVinoBackend backend(const std::shared_ptr<ov::Core>& core, ElementType cache) {
  std::vector<graph::PartitionedDecoder> tiers;
  const graph::CacheFormat format{cache, static_cast<std::int64_t>(kBlockRows)};
  tiers.emplace_back(graph::small_decoder(), graph::PartitionedDecoder::Options{.cache = format});
  tiers.emplace_back(
      graph::small_decoder(),
      graph::PartitionedDecoder::Options{.partition = Partition::kAttention, .cache = format});
  tiers.emplace_back(graph::small_decoder(),
                     graph::PartitionedDecoder::Options{
                         .partition = Partition::kAttention, .cache = format, .joined = true});
  return OpenVinoBackend({.core = core, .tiers = std::move(tiers), .device = "CPU"});
}

/// The logits and new rows of one step behind five rows that are no zeros. T: what the cache
/// stores.
template <typename T>
std::vector<float> step(OpenVinoBackend& backend, std::int64_t tier) {
  const graph::ProgramShape shape{.rung = kRung, .tier = tier};
  graph::ProgramSpec spec = backend.spec(shape);
  std::vector<std::shared_ptr<Artifact>> artifacts;
  for (std::size_t part = 0; part < spec.parts.size(); ++part) {
    artifacts.push_back(backend.compile(shape, part));
  }
  Program program(std::move(spec), std::move(artifacts));
  std::vector<std::vector<T>> memory;
  constexpr ElementType kType = std::is_same_v<T, float> ? ElementType::kF32 : ElementType::kF16;
  std::vector<KeyValue> layers;
  for (int layer = 0; layer < 2; ++layer) {
    KeyValue of;
    for (TensorView* view : {&of.k, &of.v}) {
      auto& values = memory.emplace_back(kRung * 2 * 8);
      for (std::size_t i = 0; i < values.size(); ++i) {  // no layer and side like another
        values[i] = T(static_cast<float>((i * 13 + memory.size() * 5) % 17) / 16.0F);
      }
      *view = {
          kType,
          {kRung / kBlockRows, 2, view == &of.k ? 8 : kBlockRows, view == &of.k ? kBlockRows : 8},
          nullptr};
    }
    layers.push_back(of);
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    (i % 2 == 0 ? layers[i / 2].k : layers[i / 2].v).data = memory[i].data();
  }
  program.bind_cache(0, layers);
  program.set_live_rows(0, 5);
  program.tokens()[0] = 7;
  program.logit_rows()[0] = 0;
  program.run();
  std::vector<float> made(program.logits(0).begin(), program.logits(0).end());
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const KeyValue rows = program.new_rows(layer, 0);
    for (const TensorView& view : {rows.k, rows.v}) {
      const auto* values = static_cast<const T*>(view.data);
      std::transform(values, values + element_count(view.shape), std::back_inserter(made),
                     [](T number) { return static_cast<float>(number); });
    }
  }
  return made;
}

TEST(OpenVinoBackend, EveryFormOfADecoderMakesTheSameStep) {
  OpenVinoBackend made = backend(std::make_shared<ov::Core>(), ElementType::kF32);
  const std::vector<float> whole = step<float>(made, 0);
  EXPECT_THAT(step<float>(made, 1), testing::Pointwise(testing::FloatNear(1e-2F), whole));
  EXPECT_THAT(step<float>(made, 2), testing::Pointwise(testing::FloatNear(1e-2F), whole));
  EXPECT_GT(*std::max_element(whole.begin(), whole.end()), 100.0F) << "nothing was computed";
}

// Both run the same attention, which may compute in f16; the rows they store are rounded alike.
TEST(OpenVinoBackend, JoinedBodiesStoreWhatPartsStoreInF16) {
  OpenVinoBackend made = backend(std::make_shared<ov::Core>(), ElementType::kF16);
  const std::vector<float> parts = step<ov::float16>(made, 1);
  EXPECT_THAT(step<ov::float16>(made, 2), testing::Pointwise(testing::FloatEq(), parts));
}

/// A graph of two pauses, whose answers reach the result, or of which one does not.
struct Pausing {
  explicit Pausing(bool both = true) {
    const auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::Shape{1, 1, 1, 2});
    const auto first = std::make_shared<graph::Pause>(ov::OutputVector{x, x, x}, 0);
    const auto between = std::make_shared<ov::op::v0::Abs>(first);
    const auto second =
        std::make_shared<graph::Pause>(ov::OutputVector{between, between, between}, 1);
    const ov::Output<ov::Node> end = both ? second->output(0) : between->output(0);
    for (const auto& pause : {first, second}) pause->set_handler(relay);
    model = core.compile_model(
        std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<ov::op::v0::Result>(end)},
                                    ov::ParameterVector{x}),
        "CPU", ov::hint::inference_precision(ov::element::f32), ov::inference_num_threads(1),
        ov::num_streams(1));
    request = std::make_unique<OpenVinoRequest>(
        OpenVinoRequest::Options{.model = model, .weights = none, .pauses = 2, .relay = relay});
    request->bind_input(0, {ElementType::kF32, {1, 1, 1, 2}, input});
    request->bind_output(0, {ElementType::kF32, {1, 1, 1, 2}, output});
    for (std::size_t pause = 0; pause < 2; ++pause) {
      request->bind_input(1 + pause, {ElementType::kF32, {1, 1, 1, 2}, answers[pause]});
      for (std::size_t value = 0; value < 3; ++value) {
        // The first as f32, the others as f16.
        const bool f32 = value == 0;
        void* to = f32 ? static_cast<void*>(values[pause]) : static_cast<void*>(rounded[pause]);
        request->bind_output(1 + 3 * pause + value,
                             {f32 ? ElementType::kF32 : ElementType::kF16, {1, 1, 1, 2}, to});
      }
    }
  }

  ov::Core core;
  std::shared_ptr<PauseRelay> relay = std::make_shared<PauseRelay>();
  ov::CompiledModel model;
  std::vector<ov::Tensor> none;
  std::unique_ptr<OpenVinoRequest> request;
  float input[2] = {1.0F, 1.0F / 3};
  float output[2] = {};
  float answers[2][2] = {};
  float values[2][2] = {};
  ov::float16 rounded[2][2] = {};
};

TEST(OpenVinoRequest, ValuesGoOutAndAnAnswerComesInAtEveryPause) {
  Pausing graph;
  std::vector<std::size_t> pauses;
  graph.request->run([&](std::size_t pause) {
    pauses.push_back(pause);
    graph.answers[pause][0] = pause == 0 ? -5.0F : 2 * graph.values[1][0];
    graph.answers[pause][1] = pause == 0 ? -6.0F : 2 * graph.values[1][1];
  });
  EXPECT_THAT(pauses, testing::ElementsAre(0, 1));
  EXPECT_FLOAT_EQ(graph.values[0][1], 1.0F / 3);
  EXPECT_EQ(static_cast<float>(graph.rounded[0][1]), static_cast<float>(ov::float16(1.0F / 3)));
  EXPECT_FLOAT_EQ(graph.values[1][0], 5);
  EXPECT_FLOAT_EQ(graph.output[0], 10);
  EXPECT_FLOAT_EQ(graph.output[1], 12);
}

TEST(OpenVinoRequest, AnErrorAtAPauseIsTheRunsAsItStandsAndNoFurtherPauseIsCalled) {
  Pausing graph;
  int calls = 0;
  const auto failing = [&](std::size_t) {
    ++calls;
    throw Error(ErrorKind::kDevice, "the attention of layer 0 failed");
  };
  try {
    graph.request->run(failing);
    ADD_FAILURE() << "the run ended well";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the attention of layer 0 failed");
  }
  EXPECT_EQ(calls, 1);
  graph.request->run([&](std::size_t pause) { graph.answers[pause][0] = 3; });
  EXPECT_FLOAT_EQ(graph.output[0], 3);
}

// Such as after an error of the device's own that got lost on the way.
TEST(OpenVinoRequest, ARunThatEndsBeforeItsLastPauseIsAnError) {
  Pausing graph(/*both=*/false);
  try {
    graph.request->run([](std::size_t) {});
    ADD_FAILURE() << "the run ended well";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("at pause 1 of 2"));
  }
}

}  // namespace
}  // namespace ahead::compile
