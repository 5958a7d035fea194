// OpenVINO's constant folding with the weights held back. May use: OpenVINO.
#include "model/fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

bool is_computed(const std::shared_ptr<ov::Node>& node) {
  return ov::is_type<Reshape>(node) && !ov::is_type<Constant>(node->get_input_node_ptr(1));
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

/// Shapes of all computed reshapes when `tokens` go in, by name.
std::map<std::string, ov::PartialShape> shapes_with(const ov::Model& graph, std::int64_t tokens) {
  const auto probe = graph.clone();
  std::map<ov::Output<ov::Node>, ov::PartialShape> inputs;
  for (const auto& parameter : probe->get_parameters()) {
    inputs[parameter->output(0)] = parameter->get_partial_shape().size() == 2
                                       ? ov::PartialShape{1, tokens}
                                       : ov::PartialShape{tokens};
  }
  probe->reshape(inputs);
  std::map<std::string, ov::PartialShape> shapes;
  for (const auto& node : probe->get_ops()) {
    if (is_computed(node)) {
      shapes[node->get_friendly_name()] = node->get_output_partial_shape(0);
    }
  }
  return shapes;
}

/// What differs between two token counts is the open dimension.
ov::PartialShape merged(const ov::PartialShape& a, const ov::PartialShape& b) {
  if (a.is_dynamic() || b.is_dynamic() || a.size() != b.size()) return ov::PartialShape::dynamic();
  ov::PartialShape shape = a;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (a[axis] != b[axis]) shape[axis] = ov::Dimension::dynamic();
  }
  return shape;
}

void settle(const std::shared_ptr<ov::Node>& reshape, const Pattern& pattern) {
  const auto settled = std::make_shared<Reshape>(
      reshape->input_value(0), Constant::create(ov::element::i64, {pattern.size()}, pattern),
      false);
  settled->set_friendly_name(reshape->get_friendly_name());
  reshape->output(0).replace(settled);
}

}  // namespace

void settle_shapes(const std::shared_ptr<ov::Model>& graph) {
  graph->validate_nodes_and_infer_types();
  ov::NodeVector unclear;
  for (const auto& node : graph->get_ordered_ops()) {
    if (!is_computed(node)) continue;
    if (const auto pattern = pattern_of(node->get_output_partial_shape(0))) {
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
      if (const auto pattern = pattern_of(merged(a->second, b->second))) settle(node, *pattern);
    }
  }
  fold_constants(graph);
  graph->validate_nodes_and_infer_types();
}

}  // namespace ahead::model
