// What is made canonical and what is refused, on small graphs written out here.
#include "model/canonicalise.h"

#include <gtest/gtest.h>

#include <limits>

#include "ahead/error.h"
#include "openvino/op/add.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/less_eq.hpp"
#include "openvino/op/logical_and.hpp"
#include "openvino/op/greater.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/range.hpp"
#include "openvino/op/reduce_sum.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/scaled_dot_product_attention.hpp"
#include "openvino/op/shape_of.hpp"
#include "openvino/op/subtract.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/unsqueeze.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Constant;
using NodeOutput = ov::Output<ov::Node>;

std::shared_ptr<Constant> ints(const std::vector<std::int64_t>& values) {
  return Constant::create(ov::element::i64, {values.size()}, values);
}

std::shared_ptr<ov::op::v0::Parameter> input(const char* name, const ov::element::Type& type,
                                             const ov::PartialShape& shape) {
  auto parameter = std::make_shared<ov::op::v0::Parameter>(type, shape);
  parameter->set_friendly_name(name);
  parameter->output(0).set_names({name});
  return parameter;
}

struct Wishes {
  bool attention = true;
  std::int64_t window = 0;  ///< 0: plain causality
  bool other_input = false;
};

/// An exported decoder of one layer: 2 heads of 4, vocabulary 10.
std::shared_ptr<ov::Model> exported(const Wishes& wishes) {
  const auto tokens = input("input_ids", ov::element::i64, {-1, -1});
  const auto positions = input("position_ids", ov::element::i64, {-1, -1});
  const auto mask = input("attention_mask", ov::element::i64, {-1, -1});
  const auto past_k = input("past_key_values.0.key", ov::element::f32, {-1, 2, -1, 4});
  const auto past_v = input("past_key_values.0.value", ov::element::f32, {-1, 2, -1, 4});
  const auto extra = input("extra", ov::element::f32, {1});
  const auto table = Constant::create(ov::element::f32, {10, 8}, std::vector<float>(80, 0.5F));
  NodeOutput hidden =
      std::make_shared<ov::op::v8::Gather>(table, tokens, Constant::create(ov::element::i64, {}, {0}));
  const auto used_positions = std::make_shared<ov::op::v0::Unsqueeze>(
      std::make_shared<ov::op::v0::Convert>(positions, ov::element::f32), ints({2}));
  hidden = std::make_shared<ov::op::v1::Add>(hidden, used_positions);
  if (wishes.other_input) hidden = std::make_shared<ov::op::v1::Add>(hidden, extra);
  if (wishes.attention) {
    const NodeOutput heads = std::make_shared<ov::op::v1::Transpose>(
        std::make_shared<ov::op::v1::Reshape>(hidden, ints({0, 0, 2, 4}), true), ints({0, 2, 1, 3}));
    const NodeOutput k = std::make_shared<ov::op::v0::Concat>(ov::OutputVector{past_k, heads}, 2);
    const NodeOutput v = std::make_shared<ov::op::v0::Concat>(ov::OutputVector{past_v, heads}, 2);
    // rows [1, past + T], queries [T, 1]: visible when row <= query and row > query - window
    const auto scalar = [](std::int64_t value) {
      return Constant::create(ov::element::i64, {}, {value});
    };
    const auto length = [&](const NodeOutput& value, std::int64_t axis) -> NodeOutput {
      return std::make_shared<ov::op::v8::Gather>(std::make_shared<ov::op::v3::ShapeOf>(value),
                                                  scalar(axis), scalar(0));
    };
    const NodeOutput total = length(mask, 1);
    const auto range = [&](const NodeOutput& from, const NodeOutput& to) -> NodeOutput {
      return std::make_shared<ov::op::v4::Range>(from, to, scalar(1), ov::element::i64);
    };
    const NodeOutput rows =
        std::make_shared<ov::op::v0::Unsqueeze>(range(scalar(0), total), ints({0}));
    const NodeOutput queries = std::make_shared<ov::op::v0::Unsqueeze>(
        range(length(past_k, 2), total), ints({1}));
    NodeOutput visible = std::make_shared<ov::op::v1::LessEqual>(rows, queries);
    if (wishes.window > 0) {
      visible = std::make_shared<ov::op::v1::LogicalAnd>(
          visible, std::make_shared<ov::op::v1::Greater>(
                       rows, std::make_shared<ov::op::v1::Subtract>(queries, scalar(wishes.window))));
    }
    const NodeOutput shaped = std::make_shared<ov::op::v0::Unsqueeze>(visible, ints({0, 1}));
    const NodeOutput attended = std::make_shared<ov::op::v13::ScaledDotProductAttention>(
        heads, k, v, shaped, false);
    hidden = std::make_shared<ov::op::v1::Reshape>(
        std::make_shared<ov::op::v1::Transpose>(attended, ints({0, 2, 1, 3})), ints({0, 0, 8}), true);
  }
  const auto logits = std::make_shared<ov::op::v0::MatMul>(hidden, table, false, true);
  logits->output(0).set_names({"logits"});
  return std::make_shared<ov::Model>(
      ov::ResultVector{std::make_shared<ov::op::v0::Result>(logits)},
      ov::ParameterVector{tokens, positions, mask, past_k, past_v, extra});
}

SourceFacts facts() {
  return {.architecture = "toy",
          .tokens_input = "input_ids",
          .positions_input = "position_ids",
          .logit_rows_input = "",
          .mask_input = "",
          .trained_context = 256,
          .token_shape = {1, -1}};
}

std::string refusal(const Wishes& wishes) {
  try {
    (void)canonicalise(exported(wishes), facts());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupportedModel);
    return error.what();
  }
  return "";
}

TEST(Canonicalise, AnExportedDecoderLosesItsCacheAndMask) {
  const Decoder decoder = canonicalise(exported({}), facts());
  EXPECT_EQ(decoder.vocabulary, 10);
  ASSERT_EQ(decoder.layers.size(), 1U);
  EXPECT_EQ(decoder.layers[0], (AttentionShape{2, 2, 4}));
  EXPECT_EQ(decoder.kv_values_per_token(), 16);
  ASSERT_EQ(decoder.graph->inputs().size(), 3U);
  int attentions = 0;
  for (const auto& node : decoder.graph->get_ops()) {
    if (const auto attention = ov::as_type_ptr<CachedAttention>(node)) {
      ++attentions;
      EXPECT_FLOAT_EQ(attention->attributes().scale, 0.5F);
    }
  }
  EXPECT_EQ(attentions, 1);
}

TEST(Canonicalise, ASlidingWindowIsRefusedByName) {
  const std::string text = refusal({.window = 64});
  EXPECT_NE(text.find("'toy'"), std::string::npos) << text;
  EXPECT_NE(text.find("sliding window"), std::string::npos) << text;
}

TEST(Canonicalise, AWindowAsLongAsTheContextHidesNothing) { EXPECT_EQ(refusal({.window = 256}), ""); }

TEST(Canonicalise, AGraphWithoutAttentionIsRefusedByName) {
  const std::string text = refusal({.attention = false});
  EXPECT_NE(text.find("'toy'"), std::string::npos) << text;
  EXPECT_NE(text.find("no ScaledDotProductAttention"), std::string::npos) << text;
}

TEST(Canonicalise, AnInputNobodyKnowsIsRefusedByName) {
  const std::string text = refusal({.other_input = true});
  EXPECT_NE(text.find("'extra'"), std::string::npos) << text;
}

}  // namespace
}  // namespace ahead::model
