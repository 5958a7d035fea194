// Finds what an attention's mask shows by running it: all earlier tokens, or a window of them. A
// position bias or a prefix rule would show in the values. May use: base, OpenVINO.
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
    for (std::ptrdiff_t axis = 1; axis < 4; ++axis) {
      if (shape[axis].is_dynamic()) shape[axis] = past;
    }
    return shape;
  }
  for (auto& dimension : shape) {
    if (dimension.is_dynamic()) dimension = 1;
  }
  if (!shape.size()) return shape;
  shape[static_cast<std::ptrdiff_t>(shape.size()) - 1] =
      name == "attention_mask" ? past + kProbeTokens : kProbeTokens;
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

/// Which rows the mask shows to probe tokens behind `past` cached ones: [kProbeTokens] times
/// [past + kProbeTokens].
std::vector<bool> probe(const ov::Output<ov::Node>& mask, std::int64_t past) {
  const ov::Output<ov::Node> values = std::make_shared<ov::op::v0::Convert>(mask, ov::element::f32);
  const auto probed = std::make_shared<ov::Model>(
      ov::ResultVector{std::make_shared<ov::op::v0::Result>(values)}, inputs_of(mask), "mask");
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
      auto* numbers = tensor.data<std::int64_t>();
      for (std::size_t i = 0; i < tensor.get_size(); ++i) {
        numbers[i] = is_mask ? 1 : past + static_cast<std::int64_t>(i);
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
  const auto* shown = result.data<const float>();
  std::vector<bool> seen;
  for (std::int64_t i = 0; i < width * kProbeTokens; ++i) {
    seen.push_back(visible(shown[i], boolean));
  }
  return seen;
}

/// How many tokens the mask shows to each probe token, itself included; 0 where it shows all.
/// Throws std::invalid_argument unless these are the last ones, and equally many for all.
std::int64_t window_behind(const ov::Output<ov::Node>& mask, std::int64_t past) {
  const std::vector<bool> shown = probe(mask, past);
  const std::int64_t width = past + kProbeTokens;
  const auto sees = [&](std::int64_t token, std::int64_t row) {
    return shown[static_cast<std::size_t>(token * width + row)];
  };
  const auto refuse = [&](std::int64_t token, std::int64_t row) {
    const bool seen = sees(token, row);
    throw std::invalid_argument("its mask " + std::string(seen ? "shows" : "hides") + " token " +
                                std::to_string(row) + (seen ? " to" : " from") + " token " +
                                std::to_string(past + token) +
                                ", which is neither plain causality nor a sliding window");
  };
  // The last probe token is the first that a window hides something from.
  constexpr std::int64_t kLast = kProbeTokens - 1;
  if (!sees(kLast, past + kLast)) refuse(kLast, past + kLast);
  std::int64_t first = past + kLast;
  while (first > 0 && sees(kLast, first - 1)) --first;
  for (std::int64_t token = 0; token < kProbeTokens; ++token) {
    const std::int64_t begin = first - kLast + token;
    for (std::int64_t row = 0; row < width; ++row) {
      const bool seen = row <= past + token && (first == 0 || row >= begin);
      if (sees(token, row) != seen) refuse(token, row);
    }
  }
  return first == 0 ? 0 : past + kLast - first + 1;
}

}  // namespace

std::int64_t window_of_mask(
    const std::shared_ptr<ov::op::v13::ScaledDotProductAttention>& attention, std::int64_t past) {
  const auto mask = attention->input_value(3);
  const std::int64_t window = window_behind(mask, past);
  if (window == 0) return 0;
  // Elsewhere it is the same, and begins where it must: blocks of tokens would show here.
  for (const std::int64_t other : {window + (past - window) / 2, window}) {
    if (other >= past) continue;
    const std::int64_t found = window_behind(mask, other);
    if (found == window) continue;
    throw std::invalid_argument("its mask shows " + std::to_string(found) + " tokens behind " +
                                std::to_string(other) + " and " + std::to_string(window) +
                                " behind " + std::to_string(past) +
                                ": no sliding window of one size");
  }
  return window;
}

}  // namespace ahead::model
