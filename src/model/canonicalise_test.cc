// What is made canonical and what is refused, on small graphs written out here.
#include "model/canonicalise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "ahead/error.h"
#include "openvino/core/graph_util.hpp"
#include "openvino/op/add.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/divide.hpp"
#include "openvino/op/equal.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/greater.hpp"
#include "openvino/op/less_eq.hpp"
#include "openvino/op/logical_and.hpp"
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
  std::int64_t block = 0;   ///< tokens see those of their own block of so many; 0: all
  bool other_input = false;
  bool mask = true;
  bool causal = false;
  bool mask_reads_cache = false;
  bool square_mask = false;  ///< made for all tokens, of which the new ones' rows are taken
  bool second_layer = false;
  bool second_mask = true;
};

NodeOutput scalar(std::int64_t value) { return Constant::create(ov::element::i64, {}, {value}); }

NodeOutput length(const NodeOutput& value, std::int64_t axis) {
  return std::make_shared<ov::op::v8::Gather>(std::make_shared<ov::op::v3::ShapeOf>(value),
                                              scalar(axis), scalar(0));
}

NodeOutput range(const NodeOutput& from, const NodeOutput& to) {
  return std::make_shared<ov::op::v4::Range>(from, to, scalar(1), ov::element::i64);
}

/// Rows [1, past + T], queries [T, 1]: visible when row <= query and row > query - window.
NodeOutput exported_mask(const Wishes& wishes, const NodeOutput& mask, const NodeOutput& past_k) {
  const NodeOutput total = length(mask, 1);
  const NodeOutput rows =
      std::make_shared<ov::op::v0::Unsqueeze>(range(scalar(0), total), ints({0}));
  const NodeOutput news = range(length(past_k, 2), total);
  const NodeOutput queries = std::make_shared<ov::op::v0::Unsqueeze>(
      wishes.square_mask ? range(scalar(0), total) : news, ints({1}));
  NodeOutput visible = std::make_shared<ov::op::v1::LessEqual>(rows, queries);
  if (wishes.square_mask) visible = std::make_shared<ov::op::v8::Gather>(visible, news, scalar(0));
  if (wishes.window > 0) {
    visible = std::make_shared<ov::op::v1::LogicalAnd>(
        visible, std::make_shared<ov::op::v1::Greater>(
                     rows, std::make_shared<ov::op::v1::Subtract>(queries, scalar(wishes.window))));
  }
  if (wishes.block > 0) {
    const auto block_of = [&](const NodeOutput& value) {
      return std::make_shared<ov::op::v1::Divide>(value, scalar(wishes.block));
    };
    visible = std::make_shared<ov::op::v1::LogicalAnd>(
        visible, std::make_shared<ov::op::v1::Equal>(block_of(rows), block_of(queries)));
  }
  if (wishes.mask_reads_cache) {
    const NodeOutput sum = std::make_shared<ov::op::v1::ReduceSum>(past_k, ints({0, 1, 2, 3}));
    visible = std::make_shared<ov::op::v1::LogicalAnd>(
        visible, std::make_shared<ov::op::v1::LessEqual>(
                     sum, Constant::create(ov::element::f32, {}, {1.0F})));
  }
  return std::make_shared<ov::op::v0::Unsqueeze>(visible, ints({0, 1}));
}

/// One layer's attention over its cache.
NodeOutput attend(const NodeOutput& hidden, const NodeOutput& past_k, const NodeOutput& past_v,
                  bool masked, const NodeOutput& visible, bool causal) {
  const NodeOutput heads = std::make_shared<ov::op::v1::Transpose>(
      std::make_shared<ov::op::v1::Reshape>(hidden, ints({0, 0, 2, 4}), true), ints({0, 2, 1, 3}));
  ov::OutputVector inputs{heads};
  for (const NodeOutput& past : {past_k, past_v}) {
    inputs.push_back(std::make_shared<ov::op::v0::Concat>(ov::OutputVector{past, heads}, 2));
  }
  if (masked) inputs.push_back(visible);
  const NodeOutput attended =
      std::make_shared<ov::op::v13::ScaledDotProductAttention>(inputs, causal);
  return std::make_shared<ov::op::v1::Reshape>(
      std::make_shared<ov::op::v1::Transpose>(attended, ints({0, 2, 1, 3})), ints({0, 0, 8}), true);
}

/// An exported decoder of one layer: 2 heads of 4, vocabulary 10.
std::shared_ptr<ov::Model> exported(const Wishes& wishes) {
  const auto tokens = input("input_ids", ov::element::i64, {-1, -1});
  const auto positions = input("position_ids", ov::element::i64, {-1, -1});
  const auto mask = input("attention_mask", ov::element::i64, {-1, -1});
  const auto past_k = input("past_key_values.0.key", ov::element::f32, {-1, 2, -1, 4});
  const auto past_v = input("past_key_values.0.value", ov::element::f32, {-1, 2, -1, 4});
  const auto extra = input("extra", ov::element::f32, {1});
  const auto table = Constant::create(ov::element::f32, {10, 8}, std::vector<float>(80, 0.5F));
  NodeOutput hidden = std::make_shared<ov::op::v8::Gather>(
      table, tokens, Constant::create(ov::element::i64, {}, {0}));
  const auto used_positions = std::make_shared<ov::op::v0::Unsqueeze>(
      std::make_shared<ov::op::v0::Convert>(positions, ov::element::f32), ints({2}));
  hidden = std::make_shared<ov::op::v1::Add>(hidden, used_positions);
  if (wishes.other_input) hidden = std::make_shared<ov::op::v1::Add>(hidden, extra);
  const NodeOutput visible = exported_mask(wishes, mask, past_k);
  if (wishes.attention)
    hidden = attend(hidden, past_k, past_v, wishes.mask, visible, wishes.causal);
  if (wishes.second_layer) {
    hidden = attend(hidden, input("past_key_values.1.key", ov::element::f32, {-1, 2, -1, 4}),
                    input("past_key_values.1.value", ov::element::f32, {-1, 2, -1, 4}),
                    wishes.second_mask, visible, false);
  }
  const auto logits = std::make_shared<ov::op::v0::MatMul>(hidden, table, false, true);
  logits->output(0).set_names({"logits"});
  ov::ParameterVector inputs{tokens, positions, mask, past_k, past_v, extra};
  ov::traverse_nodes(ov::NodeVector{logits}, [&](const std::shared_ptr<ov::Node>& node) {
    const auto parameter = ov::as_type_ptr<ov::op::v0::Parameter>(node);
    if (parameter && std::ranges::find(inputs, parameter) == inputs.end()) {
      inputs.push_back(parameter);
    }
  });
  return std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<ov::op::v0::Result>(logits)},
                                     inputs);
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
  EXPECT_EQ(decoder.layers[0], (AttentionShape{.q_heads = 2, .kv_heads = 2, .head_dim = 4}));
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

TEST(Canonicalise, AWindowIsReadOffTheMask) {
  for (const std::int64_t window : {1, 2, 64, 250, 252, 253, 254, 255}) {
    EXPECT_EQ(canonicalise(exported({.window = window}), facts()).layers[0].window, window);
  }
}

TEST(Canonicalise, AWindowAsLongAsTheContextHidesNothing) {
  for (const std::int64_t window : {256, 257, 10'000}) {
    EXPECT_EQ(canonicalise(exported({.window = window}), facts()).layers[0].window, 0);
  }
}

TEST(Canonicalise, BlocksOfTokensAreNoWindowAndRefusedByName) {
  for (const std::int64_t block : {32, 64, 84, 100, 126}) {
    const std::string text = refusal({.block = block});
    EXPECT_NE(text.find("'toy'"), std::string::npos) << text;
    EXPECT_NE(text.find("its mask"), std::string::npos) << block << ": " << text;
  }
}

std::string refusal_of(const std::shared_ptr<ov::Model>& graph, const SourceFacts& source) {
  try {
    (void)canonicalise(graph, source);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupportedModel);
    return error.what();
  }
  return "";
}

TEST(Canonicalise, AHugeTrainedContextDoesNotMakeTheProbeAllocateCaches) {
  SourceFacts source = facts();
  source.trained_context = std::int64_t{1} << 31;  // caches of 128 GiB
  EXPECT_EQ(refusal_of(exported({}), source), "");
}

TEST(Canonicalise, AWindowIsFoundThoughTheModelDoesNotSayItsContext) {
  SourceFacts source = facts();
  source.trained_context = 0;
  EXPECT_EQ(refusal_of(exported({}), source), "");
  EXPECT_EQ(canonicalise(exported({.window = 100'000}), source).layers[0].window, 100'000);
}

TEST(Canonicalise, AnAbsurdTrainedContextIsTakenForUnknown) {
  for (const std::int64_t context :
       {std::int64_t{-5}, (std::int64_t{1} << 31) + 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    SourceFacts source = facts();
    source.trained_context = context;
    EXPECT_EQ(canonicalise(exported({}), source).trained_context, 0) << context;
  }
  EXPECT_EQ(canonicalise(exported({}), facts()).trained_context, 256);
}

TEST(Canonicalise, AMaskThatDependsOnTheCachesValuesIsRefused) {
  EXPECT_NE(
      refusal({.mask_reads_cache = true}).find("depends on what is in 'past_key_values.0.key'"),
      std::string::npos);
}

TEST(Canonicalise, AMaskThatCostsTheSquareOfTheContextIsRefused) {
  SourceFacts source = facts();
  source.trained_context = 131'072;
  const std::string text = refusal_of(exported({.square_mask = true}), source);
  EXPECT_NE(text.find("cannot be checked"), std::string::npos) << text;
  EXPECT_EQ(refusal_of(exported({.square_mask = true}), facts()), "");
}

TEST(Canonicalise, CausalWithoutAMaskIsRefusedBecauseItsTriangleBeginsAtTheCache) {
  const std::string text = refusal({.mask = false, .causal = true});
  EXPECT_NE(text.find("'causal'"), std::string::npos) << text;
}

TEST(Canonicalise, CausalBesideAMaskIsRefusedBecauseTheMaskIsNotRead) {
  EXPECT_NE(refusal({.causal = true}).find("'causal'"), std::string::npos);
}

TEST(Canonicalise, EveryAttentionWithoutAMaskIsRefused) {
  EXPECT_NE(refusal({.mask = false}).find("layer 0: it has no mask"), std::string::npos);
  // Behind one that has its mask, too: "no mask" is nothing that was seen before.
  EXPECT_NE(refusal({.second_layer = true, .second_mask = false}).find("layer 1: it has no mask"),
            std::string::npos);
  EXPECT_EQ(refusal({.second_layer = true}), "");
}

TEST(Canonicalise, OpenVinosOwnRefusalBecomesAnError) {
  SourceFacts source = facts();
  source.token_shape = {3, 5};  // fits no token, and no graph
  EXPECT_NE(refusal_of(exported({}), source).find("'toy'"), std::string::npos);
}

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
