// Weights as a chain from the product back to its constants, compared by a text and joined
// operation by operation. May use: OpenVINO.
#include "model/merge_products.h"

#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/subtract.hpp"
#include "openvino/op/variadic_split.hpp"
#include "openvino/pass/constant_folding.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Constant;
using ov::op::v0::Convert;
using ov::op::v0::MatMul;
using ov::op::v1::Multiply;
using ov::op::v1::Reshape;
using ov::op::v1::Subtract;

bool used_once(const NodeOutput& value) { return value.get_target_inputs().size() == 1; }

/// Whether a row of the constant belongs to one of the `outputs` rows of the weights; otherwise all
/// rows share it.
bool has_rows(const Constant& constant, std::size_t outputs) {
  return !constant.get_shape().empty() && constant.get_shape()[0] == outputs && outputs > 1;
}

bool whole_bytes(const Constant& constant) {
  return ov::shape_size(constant.get_shape()) * constant.get_element_type().bitwidth() % 8 == 0;
}

bool write_constant(std::ostream& text, const Constant& constant, std::size_t outputs) {
  const ov::element::Type& type = constant.get_element_type();
  text << '(' << type << ' ';
  if (has_rows(constant, outputs)) {
    const ov::Shape& shape = constant.get_shape();
    for (std::size_t axis = 1; axis < shape.size(); ++axis) text << ',' << shape[axis];
    text << ')';
    return whole_bytes(constant);
  }
  if (ov::shape_size(constant.get_shape()) != 1) return false;
  text << constant.get_shape() << constant.cast_vector<double>().at(0) << ')';
  return true;
}

/// Whether the first axis of an input is that of the result, or the input is one number.
bool lines_up(const ov::Node& node, std::size_t port) {
  const ov::PartialShape& shape = node.get_input_partial_shape(port);
  return shape.is_static() && (shape.size() == node.get_output_partial_shape(0).size() ||
                               ov::shape_size(shape.to_shape()) == 1);
}

/// Writes how the weights behind `value` are compressed. False when they cannot be joined.
bool write_weights(std::ostream& text, const NodeOutput& value, std::size_t outputs) {
  if (!used_once(value)) return false;
  const auto& node = *value.get_node();
  if (const auto* constant = ov::as_type<const Constant>(&node)) {
    return write_constant(text, *constant, outputs);
  }
  text << node.get_type_info().name << value.get_element_type();
  if (ov::is_type<Convert>(&node)) return write_weights(text, node.input_value(0), outputs);
  if (ov::is_type<Multiply>(&node) || ov::is_type<Subtract>(&node)) {
    return lines_up(node, 0) && write_weights(text, node.input_value(0), outputs) &&
           lines_up(node, 1) && write_weights(text, node.input_value(1), outputs);
  }
  if (ov::is_type<Reshape>(&node) && ov::is_type<Constant>(node.get_input_node_ptr(1))) {
    const ov::PartialShape& from = node.get_input_partial_shape(0);
    // Rows must stay rows.
    return from.is_static() && from.size() > 0 && from[0] == value.get_partial_shape()[0] &&
           write_weights(text, node.input_value(0), outputs);
  }
  return false;
}

std::size_t outputs_of(const MatMul& product) { return product.get_input_shape(1)[0]; }

/// What products must have in common; nothing when a product cannot be joined with any.
std::optional<std::string> kind_of(const MatMul& product) {
  const ov::PartialShape& weights = product.get_input_partial_shape(1);
  if (product.get_transpose_a() || !product.get_transpose_b()) return std::nullopt;
  if (weights.is_dynamic() || weights.size() != 2) return std::nullopt;
  std::ostringstream text;
  text << product.get_input_node_ptr(0) << ':' << product.input_value(0).get_index() << ' '
       << weights[1];
  if (!write_weights(text, product.input_value(1), outputs_of(product))) return std::nullopt;
  return text.str();
}

/// Rows of all `parts`, one part behind the other.
std::shared_ptr<Constant> join_constants(const std::vector<const Constant*>& parts) {
  ov::Shape shape = parts.front()->get_shape();
  shape[0] = 0;
  for (const Constant* part : parts) shape[0] += part->get_shape()[0];
  ov::Tensor joined(parts.front()->get_element_type(), shape);
  auto* to = static_cast<char*>(joined.data());
  for (const Constant* part : parts) {
    std::memcpy(to, part->get_data_ptr(), part->get_byte_size());
    to += part->get_byte_size();
  }
  return std::make_shared<Constant>(joined);
}

/// The weights `parts`, which write_weights() found alike, as one.
NodeOutput join_weights(const ov::OutputVector& parts, const std::vector<std::size_t>& outputs) {
  const auto inputs = [&](std::size_t port) {
    ov::OutputVector values;
    for (const NodeOutput& part : parts) values.push_back(part.get_node()->input_value(port));
    return values;
  };
  const auto first = parts.front().get_node_shared_ptr();
  if (const auto constant = ov::as_type_ptr<Constant>(first)) {
    if (!has_rows(*constant, outputs.front())) return constant;
    std::vector<const Constant*> constants;
    for (const NodeOutput& part : parts) {
      constants.push_back(ov::as_type<const Constant>(part.get_node()));
    }
    return join_constants(constants);
  }
  std::shared_ptr<ov::Node> joined;
  if (ov::is_type<Reshape>(first)) {
    std::vector<std::int64_t> shape;
    for (const std::size_t extent : first->get_output_shape(0)) {
      shape.push_back(static_cast<std::int64_t>(extent));
    }
    shape[0] = 0;
    for (const std::size_t rows : outputs) shape[0] += static_cast<std::int64_t>(rows);
    joined =
        std::make_shared<Reshape>(join_weights(inputs(0), outputs),
                                  Constant::create(ov::element::i64, {shape.size()}, shape), false);
  } else {
    ov::OutputVector sources;
    for (std::size_t port = 0; port < first->get_input_size(); ++port) {
      sources.push_back(join_weights(inputs(port), outputs));
    }
    joined = first->clone_with_new_inputs(sources);
    // Unfolded, compressed weights would be copied to the type they are computed in.
    if (ov::is_type<Convert>(joined)) ov::pass::disable_constant_folding(joined);
  }
  joined->set_friendly_name(first->get_friendly_name());
  return joined;
}

void merge(const std::vector<std::shared_ptr<MatMul>>& products) {
  ov::OutputVector weights;
  std::vector<std::size_t> outputs;
  std::string name;
  for (const auto& product : products) {
    weights.push_back(product->input_value(1));
    outputs.push_back(outputs_of(*product));
    name += (name.empty() ? "" : "+") + product->get_friendly_name();
  }
  const auto merged = std::make_shared<MatMul>(products.front()->input_value(0),
                                               join_weights(weights, outputs), false, true);
  merged->set_friendly_name(name);
  const auto split = std::make_shared<ov::op::v1::VariadicSplit>(
      merged, Constant::create(ov::element::i64, {}, {-1}),
      Constant::create(ov::element::i64, {outputs.size()}, outputs));
  split->set_friendly_name(name + ".split");
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i]->output(0).replace(split->output(i));
  }
}

/// The products met first on the way back from the results: that with the vocabulary.
std::unordered_set<const ov::Node*> last_products(const ov::Model& graph) {
  std::unordered_set<const ov::Node*> products;
  std::unordered_set<const ov::Node*> seen;
  std::vector<const ov::Node*> pending;
  for (const auto& result : graph.get_results()) pending.push_back(result.get());
  while (!pending.empty()) {
    const ov::Node* node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    if (ov::is_type<MatMul>(node)) {
      products.insert(node);
      continue;
    }
    for (const auto& input : node->input_values()) pending.push_back(input.get_node());
  }
  return products;
}

}  // namespace

void merge_products(const std::shared_ptr<ov::Model>& graph) {
  const auto last = last_products(*graph);
  std::vector<std::vector<std::shared_ptr<MatMul>>> groups;
  std::map<std::string, std::size_t> group_of;
  for (const auto& node : graph->get_ordered_ops()) {
    const auto product = ov::as_type_ptr<MatMul>(node);
    if (!product || last.count(node.get()) != 0) continue;
    const auto kind = kind_of(*product);
    if (!kind) continue;
    const auto [found, added] = group_of.emplace(*kind, groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(product);
  }
  for (auto& group : groups) {
    if (group.size() > 1) merge(group);
    group.clear();  // frees the weights that were joined before the next are
  }
}

}  // namespace ahead::model
