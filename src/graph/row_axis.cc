// One rule a kind of operation. May use: base, model, OpenVINO.
#include "graph/row_axis.h"

#include <algorithm>

#include "openvino/op/clamp.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gelu.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/slice.hpp"
#include "openvino/op/split.hpp"
#include "openvino/op/swish.hpp"
#include "openvino/op/unsqueeze.hpp"
#include "openvino/op/util/arithmetic_reductions_keep_dims.hpp"
#include "openvino/op/util/binary_elementwise_arithmetic.hpp"
#include "openvino/op/util/squeeze_base.hpp"
#include "openvino/op/util/unary_elementwise_arithmetic.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::graph {
namespace {

using Axis = std::optional<std::int64_t>;

Axis axis_of(const ov::Node& node, std::size_t input, const RowAxes& axes) {
  const auto found = axes.find(node.input_value(input));
  return found == axes.end() ? std::nullopt : Axis(found->second);
}

std::int64_t rank_of(const ov::PartialShape& shape) { return shape.rank().get_length(); }

/// Whether the constants at `input` are axes that leave out `axis`.
bool leave_out(const ov::Node& node, std::size_t input, std::int64_t axis) {
  if (node.get_input_size() <= input) return false;
  const auto constant =
      ov::as_type_ptr<ov::op::v0::Constant>(node.get_input_node_shared_ptr(input));
  if (!constant) return false;
  const std::int64_t rank = rank_of(node.get_input_partial_shape(0));
  const auto values = constant->cast_vector<std::int64_t>();
  return std::none_of(values.begin(), values.end(), [&](std::int64_t value) {
    return (value < 0 ? value + rank : value) == axis;
  });
}

/// Broadcast from the last dimension on.
Axis behind_binary(const ov::Node& node, const RowAxes& axes) {
  const std::int64_t rank = rank_of(node.get_output_partial_shape(0));
  Axis behind;
  for (const std::size_t input : {0, 1}) {
    const Axis axis = axis_of(node, input, axes);
    if (!axis) continue;
    const std::int64_t moved = *axis + rank - rank_of(node.get_input_partial_shape(input));
    if (behind && *behind != moved) return std::nullopt;
    behind = moved;
  }
  for (const std::size_t input : {0, 1}) {
    if (axis_of(node, input, axes)) continue;
    const ov::PartialShape& shape = node.get_input_partial_shape(input);
    const std::int64_t there = *behind - (rank - rank_of(shape));
    if (there >= 0 && shape[there] != 1) return std::nullopt;
  }
  return behind;
}

Axis behind_product(const ov::op::v0::MatMul& node, const RowAxes& axes) {
  const Axis axis = axis_of(node, 0, axes);
  const std::int64_t rank = rank_of(node.get_input_partial_shape(0));
  const bool plain = axis && *axis == rank - 2 && !node.get_transpose_a() &&
                     !axis_of(node, 1, axes) && rank_of(node.get_input_partial_shape(1)) == 2;
  return plain ? axis : std::nullopt;
}

/// The one open dimension is the rows'; what stands in front of it and behind it must be as much as
/// before.
Axis behind_reshape(const ov::Node& node, std::int64_t axis) {
  const ov::PartialShape& from = node.get_input_partial_shape(0);
  const ov::PartialShape& to = node.get_output_partial_shape(0);
  const auto is_open = [](const ov::Dimension& dimension) { return dimension.is_dynamic(); };
  if (to.rank().is_dynamic() || from[axis].is_static() ||
      std::count_if(from.begin(), from.end(), is_open) != 1 ||
      std::count_if(to.begin(), to.end(), is_open) != 1) {
    return std::nullopt;
  }
  const std::int64_t moved = std::find_if(to.begin(), to.end(), is_open) - to.begin();
  const auto product = [](const ov::PartialShape& shape, std::int64_t begin, std::int64_t end) {
    std::int64_t elements = 1;
    for (std::int64_t i = begin; i < end; ++i) elements *= shape[i].get_length();
    return elements;
  };
  const bool same = product(from, 0, axis) == product(to, 0, moved) &&
                    product(from, axis + 1, rank_of(from)) == product(to, moved + 1, rank_of(to));
  return same ? Axis(moved) : std::nullopt;
}

}  // namespace

Axis row_axis_behind(const ov::Node& node, const RowAxes& axes) {
  for (const auto& input : node.inputs()) {
    if (input.get_partial_shape().rank().is_dynamic()) return std::nullopt;
  }
  if (ov::is_type<ov::op::util::BinaryElementwiseArithmetic>(&node)) {
    return behind_binary(node, axes);
  }
  if (const auto* product = ov::as_type<const ov::op::v0::MatMul>(&node)) {
    return behind_product(*product, axes);
  }
  const Axis axis = axis_of(node, 0, axes);
  for (std::size_t input = 1; input < node.get_input_size(); ++input) {
    if (axis_of(node, input, axes)) return std::nullopt;
  }
  if (!axis) return std::nullopt;
  if (ov::is_type<ov::op::util::UnaryElementwiseArithmetic>(&node) ||
      ov::is_type<ov::op::v0::Convert>(&node) || ov::is_type<ov::op::v4::Swish>(&node) ||
      ov::is_type<ov::op::v7::Gelu>(&node) || ov::is_type<ov::op::v0::Clamp>(&node)) {
    return axis;
  }
  if (const auto* sum = ov::as_type<const ov::op::util::ArithmeticReductionKeepDims>(&node)) {
    return sum->get_keep_dims() && leave_out(node, 1, *axis) ? axis : std::nullopt;
  }
  if (ov::is_type<ov::op::v1::VariadicSplit>(&node) || ov::is_type<ov::op::v1::Split>(&node)) {
    return leave_out(node, 1, *axis) ? axis : std::nullopt;
  }
  if (ov::is_type<ov::op::v8::Slice>(&node)) {
    return leave_out(node, 4, *axis) ? axis : std::nullopt;
  }
  if (only_reshapes(node)) return behind_reshape(node, *axis);
  return std::nullopt;
}

bool only_reshapes(const ov::Node& node) {
  return ov::is_type<ov::op::v1::Reshape>(&node) || ov::is_type<ov::op::util::SqueezeBase>(&node) ||
         ov::is_type<ov::op::v0::Unsqueeze>(&node);
}

}  // namespace ahead::graph
