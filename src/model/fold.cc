// OpenVINO's constant folding with the weights held back. May use: OpenVINO.
#include "model/fold.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "openvino/op/broadcast.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/pass/constant_folding.hpp"
#include "openvino/pass/manager.hpp"

namespace ahead::model {

using ov::op::v0::Constant;

void fold_constants(const std::shared_ptr<ov::Model>& graph) {
  for (const auto& node : graph->get_ops()) {
    if (!ov::is_type<ov::op::v0::Convert>(node)) continue;
    const auto weights = ov::as_type_ptr<Constant>(node->get_input_node_shared_ptr(0));
    if (weights && ov::shape_size(weights->get_shape()) > 1) {
      ov::pass::disable_constant_folding(node);
    }
  }
  ov::pass::Manager passes;
  passes.register_pass<ov::pass::ConstantFolding>();
  passes.run_passes(graph);
}

namespace {

using Pattern = std::vector<std::int64_t>;
using Reshape = ov::op::v1::Reshape;
using Broadcast = ov::op::v3::Broadcast;

bool is_broadcast(const ov::Node& node) {
  const auto* const broadcast = ov::as_type<const Broadcast>(&node);
  return broadcast != nullptr &&
         (broadcast->get_broadcast_spec().m_type == ov::op::BroadcastType::NUMPY ||
          broadcast->get_broadcast_spec().m_type == ov::op::BroadcastType::BIDIRECTIONAL);
}

bool is_computed(const std::shared_ptr<ov::Node>& node) {
  return (ov::is_type<Reshape>(node) || is_broadcast(*node)) &&
         !ov::is_type<Constant>(node->get_input_node_ptr(1));
}

/// The constant pattern that says as much as `shape`, when at most one dimension is open.
std::optional<Pattern> pattern_of(const ov::PartialShape& shape) {
  if (shape.rank().is_dynamic()) return std::nullopt;
  Pattern pattern;
  for (const ov::Dimension& dimension : shape) {
    pattern.push_back(dimension.is_dynamic() ? -1 : dimension.get_length());
  }
  if (std::count(pattern.begin(), pattern.end(), -1) > 1) return std::nullopt;
  return pattern;
}

/// What goes into an operation and comes out of it.
struct Shapes {
  ov::PartialShape in;
  ov::PartialShape out;
};

/// Shapes of all operations whose shape is computed when `tokens` go in, by name.
std::map<std::string, Shapes> shapes_with(const ov::Model& graph, std::int64_t tokens) {
  const auto probe = graph.clone();
  std::map<ov::Output<ov::Node>, ov::PartialShape> inputs;
  for (const auto& parameter : probe->get_parameters()) {
    inputs[parameter->output(0)] = parameter->get_partial_shape().size() == 2
                                       ? ov::PartialShape{1, tokens}
                                       : ov::PartialShape{tokens};
  }
  probe->reshape(inputs);
  std::map<std::string, Shapes> shapes;
  for (const auto& node : probe->get_ops()) {
    if (is_computed(node)) {
      shapes[node->get_friendly_name()] = {node->get_input_partial_shape(0),
                                           node->get_output_partial_shape(0)};
    }
  }
  return shapes;
}

/// What differs between two token counts is the open dimension.
ov::PartialShape merged(const ov::PartialShape& a, const ov::PartialShape& b) {
  if (a.is_dynamic() || b.is_dynamic() || a.size() != b.size()) return ov::PartialShape::dynamic();
  ov::PartialShape shape = a;
  for (std::ptrdiff_t axis = 0; axis < std::ssize(shape); ++axis) {
    if (a[axis] != b[axis]) shape[axis] = ov::Dimension::dynamic();
  }
  return shape;
}

/// The target of a broadcast that leaves open dimensions as they come in and repeats along the
/// others. Nothing where an open dimension is made by the broadcast itself.
std::optional<Pattern> target_of(const Shapes& few, const Shapes& many) {
  for (const ov::PartialShape* shape : {&few.in, &few.out, &many.in, &many.out}) {
    if (shape->is_dynamic()) return std::nullopt;
  }
  if (few.in.size() > few.out.size() || few.out.size() != many.out.size()) return std::nullopt;
  Pattern target;
  const std::ptrdiff_t in_front = std::ssize(few.out) - std::ssize(few.in);
  for (std::ptrdiff_t axis = 0; axis < std::ssize(few.out); ++axis) {
    if (few.out[axis] == many.out[axis]) {
      target.push_back(few.out[axis].get_length());
      continue;
    }
    if (axis < in_front || few.in[axis - in_front] != few.out[axis] ||
        many.in[axis - in_front] != many.out[axis]) {
      return std::nullopt;
    }
    target.push_back(1);
  }
  return target;
}

void settle(const std::shared_ptr<ov::Node>& node, const Pattern& pattern) {
  const auto shape = Constant::create(ov::element::i64, {pattern.size()}, pattern);
  std::shared_ptr<ov::Node> settled;
  if (is_broadcast(*node)) {
    settled = std::make_shared<Broadcast>(node->input_value(0), shape,
                                          ov::op::BroadcastType::BIDIRECTIONAL);
  } else {
    settled = std::make_shared<Reshape>(node->input_value(0), shape, false);
  }
  settled->set_friendly_name(node->get_friendly_name());
  node->output(0).replace(settled);
}

}  // namespace

void settle_shapes(const std::shared_ptr<ov::Model>& graph) {
  graph->validate_nodes_and_infer_types();
  ov::NodeVector unclear;
  for (const auto& node : graph->get_ordered_ops()) {
    if (!is_computed(node)) continue;
    const auto pattern = is_broadcast(*node) ? std::optional<Pattern>()
                                             : pattern_of(node->get_output_partial_shape(0));
    if (pattern) {
      settle(node, *pattern);
    } else {
      unclear.push_back(node);
    }
  }
  if (!unclear.empty()) {  // shape inference alone does not see that two open dimensions are one
    const auto few = shapes_with(*graph, 3);
    const auto many = shapes_with(*graph, 5);
    for (const auto& node : unclear) {
      const auto a = few.find(node->get_friendly_name());
      const auto b = many.find(node->get_friendly_name());
      if (a == few.end() || b == many.end()) continue;
      const auto pattern = is_broadcast(*node) ? target_of(a->second, b->second)
                                               : pattern_of(merged(a->second.out, b->second.out));
      if (pattern) settle(node, *pattern);
    }
  }
  fold_constants(graph);
  graph->validate_nodes_and_infer_types();
}

}  // namespace ahead::model
