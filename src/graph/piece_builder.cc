// Copying in an order that follows from the structure alone, so that ports, weights and keys of
// like pieces correspond. May use: base, model, OpenVINO.
#include "graph/piece_builder.h"

#include <algorithm>
#include <utility>

#include "graph/structure.h"
#include "model/cached_attention.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/result.hpp"

namespace ahead::graph {
namespace {

using ov::op::v0::Constant;
using ov::op::v0::Parameter;

/// Weights, scales and zero points, as opposed to shapes, axes, indices and single numbers.
bool is_weight(const Constant& constant) {
  const ov::element::Type type = constant.get_element_type();
  if (type == ov::element::string || ov::shape_size(constant.get_shape()) <= 1) return false;
  const bool packed = type != ov::element::boolean && type.bitwidth() <= 8;
  return type.is_real() || packed;
}

/// A tensor over the constant's own memory.
ov::Tensor view_of(const ov::Node& node) {
  const auto& constant = dynamic_cast<const Constant&>(node);
  const ov::Tensor view(constant.get_element_type(), constant.get_shape(), constant.get_data_ptr());
  return {view, std::const_pointer_cast<ov::Node>(node.shared_from_this())};
}

}  // namespace

PieceBuilder::PieceBuilder(const PieceNumbers& numbers,
                           const std::unordered_map<const ov::Node*, Role>& inputs,
                           Crossings& crossings, const Options& options)
    : numbers_(numbers), inputs_(inputs), crossings_(crossings), options_(options) {}

BuiltPiece PieceBuilder::build(const std::string& name, const std::vector<Wanted>& wanted) {
  ov::ResultVector results;
  for (const Wanted& output : wanted) {
    copy(output.value);
    results.push_back(std::make_shared<ov::op::v0::Result>(copies_.at(output.value)));
    built_.piece.outputs.push_back(output.port);
    built_.key += "out " + std::to_string(order_.at(output.value)) + ";";
  }
  ov::ParameterVector parameters = parameters_;
  parameters.insert(parameters.end(), weights_.begin(), weights_.end());
  built_.piece.name = name;
  built_.piece.graph = std::make_shared<ov::Model>(results, parameters, name);
  std::sort(built_.piece.layers.begin(), built_.piece.layers.end());
  return std::move(built_);
}

/// A value whose type the runtime does not have is made again instead: it is derived from inputs
/// (positions as i64, say).
bool PieceBuilder::comes_in(const NodeOutput& value) const {
  const auto from = numbers_.find(value.get_node());
  if (from == numbers_.end()) return false;
  return inputs_.count(value.get_node()) > 0 ||
         (from->second != options_.number && can_cross(value));
}

/// Without recursion: a graph may be thousands of nodes deep.
void PieceBuilder::copy(const NodeOutput& value) {
  std::vector<NodeOutput> open = {value};
  while (!open.empty()) {
    const NodeOutput next = open.back();
    const std::size_t before = open.size();
    if (copies_.count(next) == 0 && comes_in(next)) {
      take(next);
    } else if (copies_.count(next) == 0) {
      const ov::OutputVector inputs = next.get_node()->input_values();
      for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
        if (copies_.count(*input) == 0) open.push_back(*input);
      }
      if (open.size() > before) continue;
      copy_node(*next.get_node());
    }
    open.pop_back();
  }
}

void PieceBuilder::take(const NodeOutput& value) {
  const auto external = inputs_.find(value.get_node());
  const Port port = external == inputs_.end() ? crossings_(value) : Port{external->second};
  const auto parameter =
      std::make_shared<Parameter>(value.get_element_type(), value.get_partial_shape());
  parameters_.push_back(parameter);
  built_.piece.inputs.push_back(port);
  if (external == inputs_.end()) taken_.push_back({port, value});
  built_.key += "in " + std::to_string(static_cast<int>(port.role)) + structure_of(*parameter);
  number(value, parameter);
}

void PieceBuilder::copy_node(const ov::Node& node) {
  std::shared_ptr<ov::Node> made;
  const auto* constant = ov::as_type<const Constant>(&node);
  if (constant != nullptr && options_.is_group && is_weight(*constant)) {
    made = weight(node);
  } else {
    if (options_.is_group) built_.key += structure_of(node);
    ov::OutputVector inputs;
    for (const NodeOutput& input : node.input_values()) {
      inputs.push_back(copies_.at(input));
      built_.key += " " + std::to_string(order_.at(input));
    }
    made = node.clone_with_new_inputs(inputs);
    made->get_rt_info() = node.get_rt_info();
    if (const auto* attention = ov::as_type<const model::CachedAttention>(&node)) {
      const std::int64_t layer = attention->attributes().layer;
      built_.piece.layers.push_back(layer);
      built_.piece.windows.insert(attention->attributes().shape.window);
      built_.key += "layer " + std::to_string(layer - options_.first_layer);
    }
  }
  made->set_friendly_name(node.get_friendly_name());
  built_.key += ";";
  for (std::size_t output = 0; output < node.get_output_size(); ++output) {
    number(std::const_pointer_cast<ov::Node>(node.shared_from_this())->output(output),
           made->output(output));
  }
}

std::shared_ptr<ov::Node> PieceBuilder::weight(const ov::Node& constant) {
  auto parameter = std::make_shared<Parameter>(constant.get_output_element_type(0),
                                               constant.get_output_partial_shape(0));
  weights_.push_back(parameter);
  built_.weights.push_back(view_of(constant));
  built_.key += "weight" + structure_of(*parameter);
  return parameter;
}

void PieceBuilder::number(const NodeOutput& value, const NodeOutput& copy) {
  order_[value] = copies_.size();
  copies_[value] = copy;
}

}  // namespace ahead::graph
