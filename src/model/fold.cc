// OpenVINO's constant folding with the weights held back. May use: OpenVINO.
#include "model/fold.h"

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

void settle_shapes(const std::shared_ptr<ov::Model>& graph) {
  graph->validate_nodes_and_infer_types();
  for (const auto& node : graph->get_ordered_ops()) {
    const auto reshape = ov::as_type_ptr<ov::op::v1::Reshape>(node);
    if (!reshape || ov::is_type<Constant>(reshape->get_input_node_ptr(1))) continue;
    const ov::PartialShape& shape = reshape->get_output_partial_shape(0);
    if (shape.rank().is_dynamic()) continue;
    std::vector<std::int64_t> pattern;
    int open = 0;
    for (const ov::Dimension& dimension : shape) {
      open += dimension.is_dynamic() ? 1 : 0;
      pattern.push_back(dimension.is_dynamic() ? -1 : dimension.get_length());
    }
    if (open > 1) continue;
    const auto settled = std::make_shared<ov::op::v1::Reshape>(
        reshape->input_value(0), Constant::create(ov::element::i64, {pattern.size()}, pattern),
        false);
    settled->set_friendly_name(reshape->get_friendly_name());
    reshape->output(0).replace(settled);
  }
  fold_constants(graph);
  graph->validate_nodes_and_infer_types();
}

}  // namespace ahead::model
