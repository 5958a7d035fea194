// A program's ports and shapes, and the sharing of a batch's weight-bearing part, on a small
// decoder.
#include "graph/specialise.h"

#include <gtest/gtest.h>

#include <memory>

#include "graph/partition.h"
#include "graph/test_decoder.h"
#include "model/cached_attention.h"
#include "openvino/op/constant.hpp"

namespace ahead::graph {
namespace {

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
