// A program's ports and shapes, and the sharing of a batch's weight-bearing part, on a small
// decoder.
#include "graph/specialise.h"

#include <gtest/gtest.h>

#include <memory>

#include "graph/partition.h"
#include "model/cached_attention.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"

namespace ahead::graph {
namespace {

/// Two layers of 4 query heads and 2 KV heads of 8; the tokens' embedding is q, k and v alike.
std::shared_ptr<const model::Decoder> small_decoder() {
  using ov::op::v0::Constant;
  const auto input = [](const char* name, std::int64_t rank) {
    auto parameter =
        std::make_shared<ov::op::v0::Parameter>(ov::element::i32, ov::PartialShape::dynamic(rank));
    parameter->set_friendly_name(name);
    return parameter;
  };
  const auto reshape = [](const ov::Output<ov::Node>& value, std::vector<std::int64_t> shape) {
    return std::make_shared<ov::op::v1::Reshape>(
        value, Constant::create(ov::element::i64, {shape.size()}, shape), false);
  };
  const auto tokens = input(model::kTokens, 2);
  const auto positions = input(model::kPositions, 2);
  const auto rows = input(model::kLogitRows, 1);
  const auto weights = std::make_shared<ov::op::v0::Convert>(
      Constant::create(ov::element::u8, {10, 32}, std::vector<std::uint8_t>(320, 3)),
      ov::element::f32);
  const auto axis = Constant::create(ov::element::i64, {}, {0});
  ov::Output<ov::Node> state =
      std::make_shared<ov::op::v8::Gather>(weights, reshape(tokens, {-1}), axis);
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const auto q = reshape(state, {1, -1, 4, 8});
    const auto half =
        std::make_shared<ov::op::v8::Gather>(q, Constant::create(ov::element::i64, {2}, {0, 1}),
                                             Constant::create(ov::element::i64, {}, {2}));
    state = reshape(std::make_shared<model::CachedAttention>(
                        q, half, half, model::CachedAttention::Attributes{layer, {4, 2, 8}, 0.25F}),
                    {-1, 32});
  }
  const auto logits = std::make_shared<ov::op::v0::MatMul>(
      std::make_shared<ov::op::v8::Gather>(state, rows, axis), weights, false, true);
  auto decoder = std::make_shared<model::Decoder>();
  decoder->graph =
      std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<ov::op::v0::Result>(logits)},
                                  ov::ParameterVector{tokens, positions, rows});
  decoder->layers = {{4, 2, 8}, {4, 2, 8}};
  decoder->vocabulary = 10;
  return decoder;
}

TEST(Specialise, PortsOfTheGraphAreTheValuesOfTheSpecification) {
  const PartitionedDecoder decoder(small_decoder(), {.cache = {ElementType::kF16, 16}});
  for (const ProgramShape& shape :
       {ProgramShape{1, 1, 64}, ProgramShape{1, 8, 32}, ProgramShape{3, 1, 64}}) {
    const ProgramSpec spec = decoder.spec(shape);
    ASSERT_EQ(spec.parts.size(), 1U);
    ASSERT_EQ(spec.calls.size(), 1U);
    const auto graph = decoder.build(shape, 0);
    const CallSpec& call = spec.calls[0];
    ASSERT_EQ(graph->inputs().size(), call.inputs.size());
    ASSERT_EQ(graph->outputs().size(), call.outputs.size());
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      EXPECT_EQ(graph->input(i).get_shape(), ov::Shape(spec.values[call.inputs[i].value].shape))
          << i;
    }
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      EXPECT_EQ(graph->output(i).get_shape(), ov::Shape(spec.values[call.outputs[i].value].shape))
          << i;
    }
    EXPECT_FALSE(graph->is_dynamic());
  }
}

TEST(Specialise, CachesAreBlockMajorAndAsLongAsTheRung) {
  const PartitionedDecoder decoder(small_decoder(), {.cache = {ElementType::kF16, 16}});
  const ProgramSpec spec = decoder.spec({2, 1, 64});
  int caches = 0;
  for (const ValueSpec& value : spec.values) {
    if (value.role == Role::kNewK) {
      EXPECT_EQ(value.shape, (Shape{1, 2, 2, 8}));
    }
    const bool is_k = value.role == Role::kCacheK;
    if (!is_k && value.role != Role::kCacheV) continue;
    EXPECT_EQ(value.shape, is_k ? (Shape{4, 2, 8, 16}) : (Shape{4, 2, 16, 8}));
    EXPECT_EQ(value.type, ElementType::kF16);
    ++caches;
  }
  EXPECT_EQ(caches, 2 * 2 * 2);
}

TEST(Specialise, CompressedWeightsStayCompressed) {
  const PartitionedDecoder decoder(small_decoder(), {.cache = {ElementType::kF32, 16}});
  bool compressed = false;
  for (const auto& node : decoder.build({1, 1, 64}, 0)->get_ops()) {
    if (ov::is_type<model::CachedAttention>(node)) FAIL() << "an attention was left";
    if (!ov::is_type<ov::op::v0::Constant>(node)) continue;
    compressed = compressed || node->get_output_element_type(0) == ov::element::u8;
    EXPECT_FALSE(node->get_output_element_type(0) == ov::element::f32 &&
                 ov::shape_size(node->get_output_shape(0)) >= 320);
  }
  EXPECT_TRUE(compressed);
}

TEST(Specialise, TheDecoderIsUntouchedSoThatItCanBeCutAgain) {
  const auto source = small_decoder();
  const PartitionedDecoder decoder(source, {.cache = {ElementType::kF32, 16}});
  const std::size_t before = source->graph->get_ops().size();
  (void)decoder.build({1, 1, 64}, 0);
  (void)decoder.build({1, 4, 32}, 0);
  EXPECT_EQ(source->graph->get_ops().size(), before);
  EXPECT_TRUE(source->graph->is_dynamic());
}

}  // namespace
}  // namespace ahead::graph
