// See graph_mends.h. May use: base, OpenVINO.
#include "model/graph_mends.h"

#include <cmath>
#include <memory>
#include <vector>

#include "ahead/error.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/divide.hpp"
#include "openvino/op/gather_elements.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reduce_sum.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/softmax.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/util/topk_base.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Constant;

/// Whether `value` is the positions, moved about.
bool is_positions(NodeOutput value, const std::string& input) {
  while (ov::is_type_any_of<ov::op::v0::Convert, ov::op::v1::Transpose, ov::op::v1::Reshape>(
      value.get_node())) {
    value = value.get_node()->input_value(0);
  }
  return ov::is_type<ov::op::v0::Parameter>(value.get_node()) &&
         value.get_node()->get_friendly_name() == input;
}

bool is_usable(float factor) { return std::isfinite(factor) && factor > 0; }

void divide_frequencies(ov::Model& graph, const std::vector<float>& factors,
                        const std::string& positions_input) {
  for (const float factor : factors) {
    if (is_usable(factor)) continue;
    throw Error(ErrorKind::kInvalidModel,
                "the tensor 'rope_freqs.weight' holds " + std::to_string(factor) +
                    ", which frequencies cannot be divided by; convert the model again");
  }
  bool found = false;
  for (const auto& node : graph.get_ordered_ops()) {
    if (!ov::is_type<ov::op::v1::Multiply>(node)) continue;
    for (const std::size_t side : {0UL, 1UL}) {
      const auto frequencies = ov::as_type_ptr<Constant>(node->get_input_node_shared_ptr(side));
      if (!frequencies || !is_positions(node->input_value(1 - side), positions_input)) continue;
      std::vector<float> divided = frequencies->cast_vector<float>();
      if (divided.size() == 1) continue;  // a scale of positions
      if (divided.size() != factors.size()) {
        throw Error(ErrorKind::kInvalidModel,
                    "the tensor 'rope_freqs.weight' has " + std::to_string(factors.size()) +
                        " factors for the " + std::to_string(divided.size()) +
                        " frequencies of the rotation; convert the model again");
      }
      for (std::size_t i = 0; i < divided.size(); ++i) divided[i] /= factors[i];
      node->input(side).replace_source_output(
          Constant::create(ov::element::f32, frequencies->get_shape(), divided));
      found = true;
    }
  }
  if (!found) {
    throw Error(
        ErrorKind::kUnsupportedModel,
        "the rotation that the tensor 'rope_freqs.weight' is for is not found in the graph; "
        "use an OpenVINO IR folder of this model (optimum-cli export openvino)");
  }
}

/// The probabilities of the experts that were chosen.
bool is_chosen_weights(const ov::Node& node) {
  return ov::is_type<ov::op::v6::GatherElements>(&node) &&
         ov::is_type<ov::op::v8::Softmax>(node.get_input_node_ptr(0)) &&
         ov::is_type<ov::op::util::TopKBase>(node.get_input_node_ptr(1));
}

void normalise_experts(ov::Model& graph) {
  bool found = false;
  for (const auto& node : graph.get_ordered_ops()) {
    if (!is_chosen_weights(*node)) continue;
    const auto uses = node->output(0).get_target_inputs();
    const auto sum = std::make_shared<ov::op::v1::ReduceSum>(
        node, Constant::create(ov::element::i64, {1}, {-1}), true);
    const auto shares = std::make_shared<ov::op::v1::Divide>(node, sum);
    for (ov::Input<ov::Node> use : uses) use.replace_source_output(shares);
    found = true;
  }
  if (!found) {
    throw Error(
        ErrorKind::kUnsupportedModel,
        "the weights of the chosen experts, which have to add up to 1, are not found in the "
        "graph; use an OpenVINO IR folder of this model (optimum-cli export openvino)");
  }
}

/// Softmax over an axis of length one, of weights of the chosen experts: [.., chosen, 1].
void softmax_over_experts(ov::Model& graph) {
  bool found = false;
  for (const auto& node : graph.get_ordered_ops()) {
    const auto softmax = ov::as_type_ptr<ov::op::v8::Softmax>(node);
    if (!softmax) continue;
    const ov::PartialShape shape = softmax->get_input_partial_shape(0);
    const std::int64_t axis = softmax->get_axis() < 0
                                  ? softmax->get_axis() + shape.rank().get_length()
                                  : softmax->get_axis();
    if (axis < 1 || shape[static_cast<std::ptrdiff_t>(axis)] != 1) continue;
    softmax->set_axis(axis - 1);
    found = true;
  }
  if (!found) {
    throw Error(
        ErrorKind::kUnsupportedModel,
        "the softmax over the chosen experts, which OpenVINO's GGUF frontend is known to take "
        "over the wrong axis, is not found in the graph; use an OpenVINO IR folder of this "
        "model (optimum-cli export openvino)");
  }
}

}  // namespace

void mend(ov::Model& graph, const GgufMends& mends, const std::string& positions_input) {
  if (!mends.frequency_factors.empty()) {
    divide_frequencies(graph, mends.frequency_factors, positions_input);
  }
  if (mends.normalise_experts) normalise_experts(graph);
  if (mends.softmax_over_experts) softmax_over_experts(graph);
}

}  // namespace ahead::model
