// Takes the two slices as one, rotates it, and splits by heads. May use: base, OpenVINO.
#include "model/join_rope.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/cached_attention.h"
#include "model/rotate.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Constant;
using VariadicSplit = ov::op::v1::VariadicSplit;

/// The slice of a product that `heads` are, when nothing else uses it.
NodeOutput slice_of(const RotatedHeads& heads) {
  const auto* reshape = ov::as_type<ov::op::v1::Reshape>(heads.x.get_node());
  if (reshape == nullptr) return {};
  const NodeOutput slice = reshape->input_value(0);
  const bool ours =
      ov::is_type<VariadicSplit>(slice.get_node()) && slice.get_target_inputs().size() == 1;
  return ours ? slice : NodeOutput();
}

/// `split` with outputs `first` and the one behind it as one output: that one's value.
NodeOutput join_outputs(const NodeOutput& first) {
  const auto split = first.get_node_shared_ptr();
  std::vector<std::int64_t> lengths;
  for (const NodeOutput& output : split->outputs()) {
    const ov::PartialShape& shape = output.get_partial_shape();
    const std::int64_t length = shape[shape.size() - 1].get_length();
    if (output.get_index() == first.get_index() + 1) {
      lengths.back() += length;
    } else {
      lengths.push_back(length);
    }
  }
  if (lengths.size() == 1) return split->input_value(0);
  const auto joined = std::make_shared<VariadicSplit>(
      split->input_value(0), split->input_value(1),
      Constant::create(ov::element::i64, {lengths.size()}, lengths));
  joined->set_friendly_name(split->get_friendly_name());
  for (std::size_t port = 0; port < split->get_output_size(); ++port) {
    if (port == first.get_index() || port == first.get_index() + 1) continue;
    split->output(port).replace(joined->output(port < first.get_index() ? port : port - 1));
  }
  return joined->output(first.get_index());
}

void join(CachedAttention& attention) {
  const auto q = rotated_heads(attention.input_value(0));
  const auto k = rotated_heads(attention.input_value(1));
  if (!q || !k || q->tables != k->tables) return;
  const NodeOutput q_slice = slice_of(*q);
  const NodeOutput k_slice = slice_of(*k);
  if (!q_slice.get_node() || q_slice.get_node() != k_slice.get_node() ||
      q_slice.get_index() + 1 != k_slice.get_index()) {
    return;
  }
  const AttentionShape& shape = attention.attributes().shape;
  const NodeOutput heads =
      as_heads(join_outputs(q_slice), shape.q_heads + shape.kv_heads, shape.head_dim);
  const NodeOutput rotated = rotate({.x = heads, .tables = q->tables});
  const auto split = std::make_shared<VariadicSplit>(
      rotated, Constant::create(ov::element::i64, {}, {2}),
      Constant::create(ov::element::i64, {2},
                       std::vector<std::int64_t>{shape.q_heads, shape.kv_heads}));
  for (const std::size_t port : {0, 1}) {
    attention.input(port).replace_source_output(split->output(port));
  }
}

}  // namespace

void join_rope(const std::shared_ptr<ov::Model>& graph) {
  for (const auto& node : graph->get_ordered_ops()) {
    if (const auto attention = ov::as_type_ptr<CachedAttention>(node)) join(*attention);
  }
}

}  // namespace ahead::model
