// Small graphs for the tests of rewrites: makers of nodes, and results before and after.
// May use: OpenVINO.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/cached_attention.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace ahead::model::test {

using NodeOutput = ov::Output<ov::Node>;

inline std::shared_ptr<ov::op::v0::Constant> ints(const std::vector<std::int64_t>& values) {
  return ov::op::v0::Constant::create(ov::element::i64, {values.size()}, values);
}

inline std::shared_ptr<ov::op::v0::Constant> integer(std::int64_t value) {
  return ov::op::v0::Constant::create(ov::element::i64, {}, {value});
}

inline std::shared_ptr<ov::op::v0::Constant> number(float value) {
  return ov::op::v0::Constant::create(ov::element::f32, {}, {value});
}

inline std::shared_ptr<ov::op::v0::Parameter> input(
    const std::string& name, const ov::PartialShape& shape,
    const ov::element::Type& type = ov::element::f32) {
  auto parameter = std::make_shared<ov::op::v0::Parameter>(type, shape);
  parameter->set_friendly_name(name);
  return parameter;
}

/// Numbers without a pattern, between -0.5 and 0.5.
inline std::vector<float> mixed(std::size_t size, std::uint32_t seed) {
  std::vector<float> values(size);
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 16U) / 65536.0F - 0.5F;
  }
  return values;
}

inline std::shared_ptr<ov::op::v0::Constant> weights(const ov::Shape& shape, std::uint32_t seed) {
  return ov::op::v0::Constant::create(ov::element::f32, shape, mixed(ov::shape_size(shape), seed));
}

inline std::shared_ptr<ov::Model> model_of(const ov::OutputVector& outputs,
                                           const ov::ParameterVector& inputs) {
  ov::ResultVector results;
  for (const NodeOutput& output : outputs) {
    results.push_back(std::make_shared<ov::op::v0::Result>(output));
  }
  return std::make_shared<ov::Model>(results, inputs);
}

template <typename Op>
std::size_t count_of(const ov::Model& graph) {
  std::size_t count = 0;
  for (const auto& node : graph.get_ops()) count += ov::is_type<Op>(node) ? 1 : 0;
  return count;
}

/// Results of f32 inputs of numbers without a pattern, open dimensions being `tokens`.
inline std::vector<std::vector<float>> run(const ov::Model& graph, std::size_t tokens = 3) {
  ov::TensorVector inputs;
  for (const auto& parameter : graph.get_parameters()) {
    ov::Shape shape;
    for (const auto& extent : parameter->get_partial_shape()) {
      shape.push_back(extent.is_static() ? static_cast<std::size_t>(extent.get_length()) : tokens);
    }
    ov::Tensor tensor(ov::element::f32, shape);
    const auto values = mixed(tensor.get_size(), static_cast<std::uint32_t>(inputs.size() + 1));
    std::copy(values.begin(), values.end(), tensor.data<float>());
    inputs.push_back(tensor);
  }
  ov::TensorVector outputs(graph.get_results().size());
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = ov::Tensor(ov::element::f32, {0});
  EXPECT_TRUE(graph.evaluate(outputs, inputs));
  std::vector<std::vector<float>> results;
  for (const ov::Tensor& output : outputs) {
    const auto* data = output.data<const float>();
    results.emplace_back(data, data + output.get_size());
  }
  return results;
}

/// The same for what goes into the first attention of `graph`: q, k and v.
inline std::vector<std::vector<float>> run_into_attention(const ov::Model& graph) {
  for (const auto& node : graph.get_ordered_ops()) {
    if (!ov::is_type<CachedAttention>(node)) continue;
    return run(*model_of(node->input_values(), graph.get_parameters()));
  }
  ADD_FAILURE() << "no attention";
  return {};
}

}  // namespace ahead::model::test
