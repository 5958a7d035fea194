// Weights from the chain between a product and its constants. May use: OpenVINO.
#include "graph/panel_product.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/subtract.hpp"

namespace ahead::graph {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Constant;

/// The constant that `value` is, converted or not; null if it is none.
std::shared_ptr<Constant> constant_of(const NodeOutput& value) {
  const auto convert = ov::as_type_ptr<ov::op::v0::Convert>(value.get_node_shared_ptr());
  return ov::as_type_ptr<Constant>(convert ? convert->get_input_node_shared_ptr(0)
                                           : value.get_node_shared_ptr());
}

/// A number a group, as bits of f16; one number stands for all. Empty if the constant is neither,
/// or has a number that f16 has not.
std::vector<std::uint16_t> by_group(const Constant& constant, const ov::Shape& codes, float added) {
  const bool single = ov::shape_size(constant.get_shape()) == 1;
  if (!single && constant.get_shape() != ov::Shape{codes[0], codes[1], 1}) return {};
  std::vector<std::uint16_t> halves;
  for (const float number : constant.cast_vector<float>()) {
    const ov::float16 half(number + added);
    if (static_cast<float>(half) != number + added || !std::isfinite(number)) return {};
    halves.push_back(half.to_bits());
  }
  if (single) halves.resize(codes[0] * codes[1], halves.front());
  return halves;
}

/// (codes [- zero points]) * scales, [rows, groups, columns of a group].
struct Weights {
  std::shared_ptr<Constant> codes;
  std::shared_ptr<Constant> zero_points;  ///< null: none
  std::shared_ptr<Constant> scales;
};

std::optional<Weights> weights_of(const NodeOutput& value) {
  auto node = value.get_node_shared_ptr();
  if (ov::is_type<ov::op::v0::Convert>(node)) node = node->get_input_node_shared_ptr(0);
  if (ov::is_type<ov::op::v1::Reshape>(node)) node = node->get_input_node_shared_ptr(0);
  const auto multiply = ov::as_type_ptr<ov::op::v1::Multiply>(node);
  if (!multiply) return std::nullopt;
  Weights weights;
  NodeOutput codes = multiply->input_value(0);
  if (const auto subtract = ov::as_type_ptr<ov::op::v1::Subtract>(codes.get_node_shared_ptr())) {
    weights.zero_points = constant_of(subtract->input_value(1));
    if (!weights.zero_points) return std::nullopt;
    codes = subtract->input_value(0);
  }
  weights.codes = constant_of(codes);
  weights.scales = constant_of(multiply->input_value(1));
  if (!weights.codes || !weights.scales || weights.codes->get_shape().size() != 3) {
    return std::nullopt;
  }
  return weights;
}

/// Null where `value` is no matrix that panels can hold.
std::shared_ptr<const PanelWeights> panels_of(const NodeOutput& value) {
  const std::optional<Weights> found = weights_of(value);
  if (!found) return nullptr;
  const Weights& weights = *found;
  const ov::element::Type& type = weights.codes->get_element_type();
  const bool is_signed = type == ov::element::i4;
  if (!is_signed && type != ov::element::u4) return nullptr;
  const ov::Shape& shape = weights.codes->get_shape();
  const PanelWeights::Size size{
      .rows = shape[0], .columns = shape[1] * shape[2], .group = shape[2]};
  if (!PanelWeights::can_hold(size) ||
      value.get_partial_shape() != ov::PartialShape(ov::Shape{size.rows, size.columns})) {
    return nullptr;
  }

  // Codes of a signed type count from -8.
  const float first = is_signed ? 8 : 0;
  const std::vector<std::uint16_t> scales = by_group(*weights.scales, shape, 0);
  const std::vector<std::uint16_t> zero_points =
      weights.zero_points
          ? by_group(*weights.zero_points, shape, first)
          : std::vector<std::uint16_t>(shape[0] * shape[1], ov::float16(first).to_bits());
  if (scales.empty() || zero_points.empty()) return nullptr;
  const auto* bytes = static_cast<const std::byte*>(weights.codes->get_data_ptr());
  std::vector<std::byte> codes(bytes, bytes + size.rows * size.columns / 2);
  if (is_signed) {
    for (std::byte& two : codes) two ^= std::byte{0x88};
  }
  return std::make_shared<PanelWeights>(PanelWeights::Source{
      .size = size, .codes = codes, .scales = scales, .zero_points = zero_points});
}

}  // namespace

PanelProduct::PanelProduct(const NodeOutput& x, std::shared_ptr<const PanelWeights> weights)
    : Op({x}), weights_(std::move(weights)) {
  constructor_validate_and_infer_types();
}

void PanelProduct::validate_and_infer_types() {
  ov::PartialShape shape = get_input_partial_shape(0);
  NODE_VALIDATION_CHECK(this,
                        get_input_element_type(0) == ov::element::f32 && shape.rank().is_static() &&
                            shape.size() > 0 &&
                            shape[shape.size() - 1].compatible(weights_->size().columns),
                        "x is ", get_input_element_type(0), " ", shape, ", expected f32 [..., ",
                        weights_->size().columns, "]");
  shape[shape.size() - 1] = static_cast<std::int64_t>(weights_->size().rows);
  set_output_type(0, ov::element::f32, shape);
}

// A device may take two operations of equal inputs and attributes for one: the weights' address
// tells them apart. It means nothing elsewhere, but the graph is compiled, never stored.
bool PanelProduct::visit_attributes(ov::AttributeVisitor& visitor) {
  auto weights = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(weights_.get()));
  visitor.on_attribute("weights", weights);
  return true;
}

std::shared_ptr<ov::Node> PanelProduct::clone_with_new_inputs(
    const ov::OutputVector& inputs) const {
  check_new_args_count(this, inputs);
  return std::make_shared<PanelProduct>(inputs[0], weights_);
}

bool PanelProduct::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
  const auto& [rows, columns, group] = weights_->size();
  ov::Shape shape = inputs.at(0).get_shape();
  const std::size_t vectors = ov::shape_size(shape) / columns;
  shape.back() = rows;
  outputs.at(0).set_shape(shape);
  const auto* x = inputs[0].data<const float>();
  auto* y = outputs[0].data<float>();
  for (std::size_t i = 0; i < vectors; ++i) {
    weights_->multiply({x + i * columns, columns}, {y + i * rows, rows});
  }
  return true;
}

std::size_t use_panels(const std::shared_ptr<ov::Model>& graph) {
  std::map<NodeOutput, std::shared_ptr<const PanelWeights>> known;  ///< products may share weights
  std::size_t replaced = 0;
  for (const auto& node : graph->get_ordered_ops()) {
    const auto product = ov::as_type_ptr<ov::op::v0::MatMul>(node);
    if (!product || product->get_transpose_a() || !product->get_transpose_b() ||
        product->get_input_element_type(0) != ov::element::f32 ||
        product->get_input_partial_shape(1).size() != 2) {
      continue;
    }
    const NodeOutput weights = product->input_value(1);
    const auto [found, added] = known.try_emplace(weights);
    if (added) found->second = panels_of(weights);
    const auto& panels = found->second;
    if (!panels) continue;
    const auto made = std::make_shared<PanelProduct>(product->input_value(0), panels);
    made->set_friendly_name(product->get_friendly_name());
    product->output(0).replace(made->output(0));
    ++replaced;
  }
  return replaced;
}

}  // namespace ahead::graph
