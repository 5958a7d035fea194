// Proves that an attention's mask is plain causality by running it: a window, a position bias or a
// prefix rule would show in the values. May use: base, OpenVINO.
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/attention_site.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/util/shape_of_base.hpp"
#include "openvino/runtime/core.hpp"

namespace ahead::model {
namespace {

constexpr std::int64_t kProbeTokens = 4;

/// The graph inputs that `output` depends on.
ov::ParameterVector inputs_of(const ov::Output<ov::Node>& output) {
  ov::ParameterVector found;
  std::set<const ov::Node*> seen;
  std::vector<std::shared_ptr<ov::Node>> pending{output.get_node_shared_ptr()};
  while (!pending.empty()) {
    const auto node = pending.back();
    pending.pop_back();
    if (!seen.insert(node.get()).second) continue;
    if (auto parameter = ov::as_type_ptr<ov::op::v0::Parameter>(node)) found.push_back(parameter);
    for (const auto& input : node->input_values()) pending.push_back(input.get_node_shared_ptr());
  }
  return found;
}

/// The shape a probe of kProbeTokens new tokens behind `past` cached ones gives an input.
ov::PartialShape probe_shape(const ov::op::v0::Parameter& parameter, std::int64_t past) {
  ov::PartialShape shape = parameter.get_partial_shape();
  const std::string& name = parameter.get_friendly_name();
  if (shape.size() == 4) {  // a cache
    shape[0] = 1;
    for (std::size_t axis = 1; axis < 4; ++axis) {
      if (shape[axis].is_dynamic()) shape[axis] = past;
    }
    return shape;
  }
  for (auto& dimension : shape) {
    if (dimension.is_dynamic()) dimension = 1;
  }
  if (!shape.size()) return shape;
  shape[shape.size() - 1] = name == "attention_mask" ? past + kProbeTokens : kProbeTokens;
  return shape;
}

/// `model` in the probe's shapes, with those as constants and without the inputs that only they
/// were asked of: a cache must not be allocated to learn its length.
std::shared_ptr<ov::Model> without_unread_inputs(const std::shared_ptr<ov::Model>& model,
                                                 std::int64_t past) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const auto& parameter : model->get_parameters()) {
    shapes[parameter->output(0)] = probe_shape(*parameter, past);
  }
  model->reshape(shapes);
  for (const auto& node : model->get_ordered_ops()) {
    if (!ov::is_type<ov::op::util::ShapeOfBase>(node)) continue;
    if (node->get_input_partial_shape(0).is_dynamic()) continue;
    const ov::Shape shape = node->get_input_shape(0);
    node->output(0).replace(ov::op::v0::Constant::create(node->get_output_element_type(0),
                                                         ov::Shape{shape.size()}, shape));
  }
  const auto inputs = inputs_of(model->output(0));
  for (const auto& input : inputs) {
    if (input->get_partial_shape().size() != 4) continue;
    throw std::invalid_argument("its mask depends on what is in '" + input->get_friendly_name() +
                                "', not on its length alone");
  }
  return std::make_shared<ov::Model>(model->get_results(), inputs, "mask");
}

/// A mask that is computed in whole, for every token of the context, costs its square.
void refuse_excess(const ov::Model& model) {
  constexpr std::size_t kMostValues = std::size_t{1} << 27;
  for (const auto& node : model.get_ordered_ops()) {
    for (const auto& output : node->outputs()) {
      if (output.get_partial_shape().is_dynamic()) continue;
      const ov::Shape& shape = output.get_shape();
      // In floating point, because the product of hostile extents may not fit.
      double values = 1;
      for (const std::size_t extent : shape) values *= static_cast<double>(extent);
      if (values <= static_cast<double>(kMostValues)) continue;
      std::ostringstream text;
      text << "its mask cannot be checked: '" << node->get_friendly_name() << "' has the shape "
           << shape << " at the model's trained context";
      throw std::invalid_argument(text.str());
    }
  }
}

/// Whether a mask value lets a token be seen; throws for anything between yes and no.
bool visible(float value, bool boolean) {
  if (boolean) return value != 0.0F;
  if (value == 0.0F) return true;
  if (value < -1e4F) return false;
  throw std::invalid_argument("its mask adds " + std::to_string(value) +
                              " to scores: a position bias, not plain causality");
}

}  // namespace

void check_mask(const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention,
                std::int64_t past) {
  const auto mask = attention->input_value(3);
  const ov::Output<ov::Node> probe = std::make_shared<ov::op::v0::Convert>(mask, ov::element::f32);
  const auto probed = std::make_shared<ov::Model>(
      ov::ResultVector{std::make_shared<ov::op::v0::Result>(probe)}, inputs_of(mask), "mask");
  const auto model = without_unread_inputs(probed->clone(), past);
  refuse_excess(*model);

  ov::Core core;
  auto request = core.compile_model(model, "CPU", ov::hint::inference_precision(ov::element::f32))
                     .create_infer_request();
  for (const auto& input : model->inputs()) {
    ov::Tensor tensor(input.get_element_type(), input.get_shape());
    std::memset(tensor.data(), 0, tensor.get_byte_size());
    if (input.get_element_type() == ov::element::i64) {
      const bool is_mask = input.get_any_name() == "attention_mask";
      auto* values = tensor.data<std::int64_t>();
      for (std::size_t i = 0; i < tensor.get_size(); ++i) {
        values[i] = is_mask ? 1 : past + static_cast<std::int64_t>(i);
      }
    }
    request.set_tensor(input, tensor);
  }
  request.infer();

  const ov::Tensor result = request.get_output_tensor();
  const bool boolean = mask.get_element_type() == ov::element::boolean;
  const auto width = static_cast<std::int64_t>(result.get_shape().back());
  if (width != past + kProbeTokens ||
      result.get_size() % static_cast<std::size_t>(width * kProbeTokens) != 0) {
    throw std::invalid_argument("its mask does not cover the cache and the new tokens");
  }
  const float* values = result.data<const float>();
  for (std::int64_t token = 0; token < kProbeTokens; ++token) {
    for (std::int64_t row = 0; row < width; ++row) {
      const bool expected = row <= past + token;
      if (visible(values[token * width + row], boolean) == expected) continue;
      throw std::invalid_argument("its mask " + std::string(expected ? "hides" : "shows") +
                                  " token " + std::to_string(row) + " to token " +
                                  std::to_string(past + token) +
                                  (expected ? ": a sliding window or the like" : ""));
    }
  }
}

}  // namespace ahead::model
