// Walks from an attention back to its cache and forward to its use. May use: base, OpenVINO.
#include "model/attention_site.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "openvino/op/broadcast.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/scatter_update.hpp"
#include "openvino/op/tile.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/unsqueeze.hpp"

namespace ahead::model {
namespace {

using ov::Output;
using NodeOutput = Output<ov::Node>;

template <typename Op>
std::shared_ptr<Op> as(const NodeOutput& output) {
  return ov::as_type_ptr<Op>(output.get_node_shared_ptr());
}

NodeOutput constant(std::vector<std::int64_t> values) {
  const std::size_t count = values.size();
  return ov::op::v0::Constant::create(ov::element::i64, ov::Shape{count}, values);
}

NodeOutput to_f32(const NodeOutput& output) {
  if (output.get_element_type() == ov::element::f32) return output;
  return std::make_shared<ov::op::v0::Convert>(output, ov::element::f32);
}

NodeOutput strip_converts(NodeOutput output) {
  while (const auto convert = as<ov::op::v0::Convert>(output)) output = convert->input_value(0);
  return output;
}

bool swaps_heads_and_tokens(const std::shared_ptr<ov::op::v1::Transpose>& transpose) {
  const auto order = as<ov::op::v0::Constant>(transpose->input_value(1));
  return order && order->cast_vector<std::int64_t>() == std::vector<std::int64_t>{0, 2, 1, 3};
}

/// [1, H, N, D] and [1, N, H, D] into one another.
NodeOutput swap_heads_and_tokens(const NodeOutput& output) {
  if (const auto transpose = as<ov::op::v1::Transpose>(output);
      transpose && swaps_heads_and_tokens(transpose)) {
    return transpose->input_value(0);
  }
  return std::make_shared<ov::op::v1::Transpose>(output, constant({0, 2, 1, 3}));
}

/// Where new rows meet the cache.
struct CacheWrite {
  NodeOutput rows;         ///< as written
  ov::PartialShape cache;  ///< shape of the cache input
  /// Length of the axis behind which grouped heads are repeated; 0: they are not.
  std::int64_t repeated_behind = 0;
};

std::shared_ptr<ov::op::v0::Parameter> cache_parameter(NodeOutput output) {
  while (true) {
    output = strip_converts(output);
    if (auto parameter = as<ov::op::v0::Parameter>(output)) return parameter;
    const auto gather = as<ov::op::v8::Gather>(output);  // beam reordering along the batch
    if (!gather) return nullptr;
    output = gather->input_value(0);
  }
}

/// Length of the axis in front of the one that a broadcast or tile repeats, -1 when that is
/// unclear.
std::int64_t axis_before_repeat(const NodeOutput& repeat) {
  const ov::PartialShape& before = repeat.get_node()->get_input_partial_shape(0);
  const ov::PartialShape& after = repeat.get_partial_shape();
  if (before.rank().is_dynamic() || after.rank().is_dynamic() || before.size() != after.size()) {
    return -1;
  }
  for (std::size_t axis = 1; axis < before.size(); ++axis) {
    if (before[axis] == 1 && after[axis] != 1) {
      return before[axis - 1].is_static() ? before[axis - 1].get_length() : -1;
    }
  }
  return 0;
}

CacheWrite find_cache_write(NodeOutput output) {
  std::int64_t repeated_behind = 0;
  for (int step = 0; step < 32; ++step) {
    if (const auto scatter = as<ov::op::v3::ScatterUpdate>(output)) {
      if (const auto cache = cache_parameter(scatter->input_value(0))) {
        return {scatter->input_value(2), cache->get_partial_shape(), repeated_behind};
      }
      break;
    }
    if (const auto concat = as<ov::op::v0::Concat>(output)) {
      const auto cache = cache_parameter(concat->input_value(0));
      if (cache && concat->get_input_size() == 2) {
        return {concat->input_value(1), cache->get_partial_shape(), repeated_behind};
      }
      repeated_behind = -1;  // k, k, k beside one another: whole sets of heads repeat
      output = concat->input_value(0);
      continue;
    }
    if (const auto unsqueeze = as<ov::op::v0::Unsqueeze>(output)) {
      output = unsqueeze->input_value(0);
      continue;
    }
    if (as<ov::op::v3::Broadcast>(output) || as<ov::op::v0::Tile>(output)) {
      repeated_behind = axis_before_repeat(output);
      output = output.get_node()->input_value(0);
      continue;
    }
    if (as<ov::op::v1::Reshape>(output) || as<ov::op::v1::Transpose>(output) ||
        as<ov::op::v0::Convert>(output)) {
      output = output.get_node()->input_value(0);
      continue;
    }
    break;
  }
  throw std::invalid_argument("no KV cache is found behind its '" +
                              output.get_node()->get_friendly_name() + "' (" +
                              output.get_node()->get_type_name() + ")");
}

/// Cache shapes are [1, ?, H, D] (rows as the GGUF reader writes them) or [?, H, ?, D] (exported
/// IR).
bool token_major(const ov::PartialShape& cache) { return cache[2].is_static(); }

NodeOutput canonical_rows(const CacheWrite& write, std::int64_t heads, std::int64_t dim) {
  const NodeOutput rows = strip_converts(write.rows);
  if (token_major(write.cache)) {
    return to_f32(
        std::make_shared<ov::op::v1::Reshape>(rows, constant({1, -1, heads, dim}), false));
  }
  return to_f32(swap_heads_and_tokens(rows));
}

std::int64_t static_dim(const ov::PartialShape& shape, std::size_t axis, const char* what) {
  if (shape.rank().is_dynamic() || axis >= shape.size() || shape[axis].is_dynamic()) {
    throw std::invalid_argument(std::string("its ") + what + " is not fixed");
  }
  return shape[axis].get_length();
}

/// A score for each head, the same for every token.
NodeOutput sinks_of(NodeOutput input, std::int64_t q_heads) {
  while (as<ov::op::v0::Convert>(input) || as<ov::op::v1::Reshape>(input) ||
         as<ov::op::v0::Unsqueeze>(input)) {
    input = input.get_node()->input_value(0);
  }
  const auto sinks = as<ov::op::v0::Constant>(input);
  if (!sinks || ov::shape_size(sinks->get_shape()) != static_cast<std::size_t>(q_heads)) {
    throw std::invalid_argument("its attention sinks are not one constant for each query head");
  }
  return ov::op::v0::Constant::create(ov::element::f32, {static_cast<std::size_t>(q_heads)},
                                      sinks->cast_vector<float>());
}

}  // namespace

AttentionSite trace_attention(
    const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention) {
  const CacheWrite k = find_cache_write(attention->input_value(1));
  const CacheWrite v = find_cache_write(attention->input_value(2));
  if (k.cache.rank().is_dynamic() || k.cache.size() != 4 || v.cache.rank().is_dynamic() ||
      v.cache.size() != 4) {
    throw std::invalid_argument("its cache is not [batch, tokens, heads, size]");
  }
  const std::size_t head_axis = token_major(k.cache) ? 2 : 1;

  AttentionSite site;
  site.shape.kv_heads = static_dim(k.cache, head_axis, "number of KV heads");
  site.shape.head_dim = static_dim(k.cache, 3, "head size");
  const std::int64_t value_dim = static_dim(v.cache, 3, "head size of V");
  if (value_dim != site.shape.head_dim) site.shape.value_dim = value_dim;
  site.shape.q_heads =
      static_dim(attention->get_input_partial_shape(0), 1, "number of query heads");
  if (site.shape.q_heads % site.shape.kv_heads != 0) {
    throw std::invalid_argument("its query heads are not a multiple of its KV heads");
  }
  if (site.shape.q_heads != site.shape.kv_heads && site.shape.kv_heads != 1 &&
      (k.repeated_behind != site.shape.kv_heads || v.repeated_behind != site.shape.kv_heads)) {
    throw std::invalid_argument("its KV heads are not repeated head by head");
  }

  site.scale = 1.0F / std::sqrt(static_cast<float>(site.shape.head_dim));
  if (attention->get_input_size() >= 5) {
    const auto scale = as<ov::op::v0::Constant>(strip_converts(attention->input_value(4)));
    if (!scale) throw std::invalid_argument("its scale is not a constant");
    site.scale = scale->cast_vector<float>().at(0);
  }
  if (attention->get_input_size() == 6) {
    site.sinks = sinks_of(attention->input_value(5), site.shape.q_heads);
  }
  site.q = to_f32(swap_heads_and_tokens(strip_converts(attention->input_value(0))));
  site.q = to_f32(strip_converts(site.q));
  site.k = canonical_rows(k, site.shape.kv_heads, site.shape.head_dim);
  site.v = canonical_rows(v, site.shape.kv_heads, value_dim);
  return site;
}

void replace_attention(const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention,
                       const ov::Output<ov::Node>& output) {
  NodeOutput replaced = attention->output(0);
  bool head_major = true;
  while (true) {
    const auto targets = replaced.get_target_inputs();
    if (targets.size() != 1) break;
    const auto consumer = targets.begin()->get_node()->shared_from_this();
    const auto transpose = ov::as_type_ptr<ov::op::v1::Transpose>(consumer);
    if (head_major && transpose && swaps_heads_and_tokens(transpose)) {
      head_major = false;
    } else if (!ov::is_type<ov::op::v0::Convert>(consumer)) {
      break;
    }
    replaced = consumer->output(0);
  }
  NodeOutput value =
      head_major
          ? NodeOutput(std::make_shared<ov::op::v1::Transpose>(output, constant({0, 2, 1, 3})))
          : output;
  if (replaced.get_element_type() != ov::element::f32) {
    value = std::make_shared<ov::op::v0::Convert>(value, replaced.get_element_type());
  }
  replaced.replace(value);
}

}  // namespace ahead::model
