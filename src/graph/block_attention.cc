// The attention's operations, in the order data flows. May use: base, model, OpenVINO.
#include "graph/block_attention.h"

#include <vector>

#include "graph/program_spec.h"
#include "openvino/op/add.hpp"
#include "openvino/op/broadcast.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reduce_sum.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/softmax.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::graph {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using Ints = std::vector<std::int64_t>;

NodeOutput ints(const Ints& values) {
  return ov::op::v0::Constant::create(ov::element::i64, {values.size()}, values);
}

NodeOutput reshape(const NodeOutput& value, const Ints& shape) {
  return std::make_shared<ov::op::v1::Reshape>(value, ints(shape), false);
}

NodeOutput transpose(const NodeOutput& value, const Ints& order) {
  return std::make_shared<ov::op::v1::Transpose>(value, ints(order));
}

NodeOutput to_f32(const NodeOutput& value) {
  if (value.get_element_type() == ov::element::f32) return value;
  return std::make_shared<ov::op::v0::Convert>(value, ov::element::f32);
}

/// [T, T]: query i sees new rows 0..i, of these the last `window` unless that is 0.
NodeOutput causal_bias(std::int64_t tokens, std::int64_t window) {
  std::vector<float> bias;
  bias.reserve(static_cast<std::size_t>(tokens * tokens));
  for (std::int64_t query = 0; query < tokens; ++query) {
    for (std::int64_t row = 0; row < tokens; ++row) {
      const bool seen = row <= query && (window == 0 || query - row < window);
      bias.push_back(seen ? 0.0F : kDeadRow);
    }
  }
  const auto extent = static_cast<std::size_t>(tokens);
  return ov::op::v0::Constant::create(ov::element::f32, {extent, extent}, bias);
}

/// `scores` [1, Hkv, G * T, N] with the bias [T, N] added. The groups stand apart for the addition,
/// so that one small bias serves all.
NodeOutput add_by_token(const NodeOutput& scores, const NodeOutput& bias, std::int64_t group) {
  const ov::Shape& shape = scores.get_shape();
  const auto heads = static_cast<std::int64_t>(shape.at(1));
  const auto queries = static_cast<std::int64_t>(shape.at(2));
  const auto rows = static_cast<std::int64_t>(shape.at(3));
  const NodeOutput apart =
      group == 1 ? scores : reshape(scores, {heads, group, queries / group, rows});
  const NodeOutput sum = std::make_shared<ov::op::v1::Add>(apart, bias);
  return group == 1 ? sum : reshape(sum, {1, heads, queries, rows});
}

/// `sinks` [q_heads] as one more column of scores: [1, Hkv, G * T, 1].
NodeOutput sink_column(const NodeOutput& sinks, const BlockAttentionShape& shape) {
  const std::int64_t heads = shape.heads.kv_heads;
  const std::int64_t group = shape.heads.q_heads / heads;
  NodeOutput column = reshape(sinks, {heads, group, 1, 1});
  if (shape.tokens > 1) {
    column = std::make_shared<ov::op::v3::Broadcast>(column, ints({heads, group, shape.tokens, 1}));
  }
  return reshape(column, {1, heads, group * shape.tokens, 1});
}

}  // namespace

ov::Output<ov::Node> block_attention(const BlockAttentionInputs& inputs,
                                     const BlockAttentionShape& shape) {
  const std::int64_t heads = shape.heads.kv_heads;
  const std::int64_t group = shape.heads.q_heads / heads;
  const std::int64_t dim = shape.heads.head_dim;
  const std::int64_t v_dim = shape.heads.v_dim();
  const std::int64_t tokens = shape.tokens;
  const std::int64_t queries = group * tokens;
  const std::int64_t blocks = shape.rows / shape.block_rows;

  // Fold: [1, T, Hkv * G, D] -> [1, Hkv, G * T, D]; rows [1, T, Hkv, D] -> [1, Hkv, T, D].
  const NodeOutput scaled = std::make_shared<ov::op::v1::Multiply>(
      inputs.q, ov::op::v0::Constant::create(ov::element::f32, {}, {shape.scale}));
  const NodeOutput q =
      tokens == 1 ? reshape(scaled, {1, heads, group, dim})
                  : reshape(transpose(reshape(scaled, {tokens, heads, group, dim}), {1, 2, 0, 3}),
                            {1, heads, queries, dim});
  const auto by_head = [&](const NodeOutput& rows, std::int64_t size) {
    return tokens == 1 ? reshape(rows, {1, heads, 1, size}) : transpose(rows, {0, 2, 1, 3});
  };

  const NodeOutput block_scores =
      std::make_shared<ov::op::v0::MatMul>(q, to_f32(inputs.cache_k));  // [blocks, Hkv, G * T, R]
  const NodeOutput scores_by_row =
      reshape(transpose(block_scores, {1, 2, 0, 3}), {1, heads, queries, shape.rows});
  const NodeOutput cache_scores =
      shape.heads.window > 0 && tokens > 1
          ? add_by_token(scores_by_row, inputs.bias, group)
          : NodeOutput(std::make_shared<ov::op::v1::Add>(scores_by_row, inputs.bias));
  NodeOutput new_scores = std::make_shared<ov::op::v0::MatMul>(q, by_head(inputs.k, dim), false,
                                                               true);  // [1, Hkv, G * T, T]
  // Every layer of every program carries such a triangle.
  if (tokens > 1) {
    new_scores = add_by_token(new_scores, causal_bias(tokens, shape.heads.window), group);
  }

  ov::OutputVector columns = {cache_scores, new_scores};
  Ints widths = {shape.rows, tokens};
  if (inputs.sinks.get_node() != nullptr) {
    columns.push_back(sink_column(inputs.sinks, shape));
    widths.push_back(1);
  }
  const NodeOutput weights =
      std::make_shared<ov::op::v8::Softmax>(std::make_shared<ov::op::v0::Concat>(columns, 3), 3);
  const auto split = std::make_shared<ov::op::v1::VariadicSplit>(
      weights, ov::op::v0::Constant::create(ov::element::i64, {}, {3}), ints(widths));

  const NodeOutput block_weights = transpose(
      reshape(split->output(0), {heads, queries, blocks, shape.block_rows}), {2, 0, 1, 3});
  const NodeOutput from_cache = std::make_shared<ov::op::v1::ReduceSum>(
      std::make_shared<ov::op::v0::MatMul>(block_weights, to_f32(inputs.cache_v)), ints({0}), true);
  const NodeOutput from_new =
      std::make_shared<ov::op::v0::MatMul>(split->output(1), by_head(inputs.v, v_dim));
  const NodeOutput summed = std::make_shared<ov::op::v1::Add>(from_cache, from_new);

  // Unfold: [1, Hkv, G * T, Dv] -> [1, T, Hkv * G, Dv].
  if (tokens == 1) return reshape(summed, {1, 1, shape.heads.q_heads, v_dim});
  return reshape(transpose(reshape(summed, {heads, group, tokens, v_dim}), {2, 0, 1, 3}),
                 {1, tokens, shape.heads.q_heads, v_dim});
}

}  // namespace ahead::graph
