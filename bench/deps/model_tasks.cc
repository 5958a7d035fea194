// See model_tasks.h. May use: graph, OpenVINO.
#include "deps/model_tasks.h"

#include <algorithm>
#include <unordered_map>

#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/util/op_types.hpp"

namespace ahead::bench {
namespace {

std::size_t bytes_of(const ov::Output<ov::Node>& value) {
  const ov::PartialShape& shape = value.get_partial_shape();
  std::size_t elements = 1;
  if (shape.rank().is_static()) {
    for (const auto& dim : shape)
      elements *= dim.is_static() ? static_cast<std::size_t>(dim.get_length()) : 1;
  }
  return std::max<std::size_t>(1, elements * value.get_element_type().bitwidth() / 8);
}

/// Whether every element of its output may need every one of its inputs.
bool mixes(const ov::Node& node) {
  const std::string kind = node.get_type_name();
  return kind == "MatMul" || kind == "Softmax" || kind == "Reshape" || kind == "Transpose" ||
         kind == "Concat" || kind == "Split" || kind == "VariadicSplit" || kind == "Gather" ||
         kind.rfind("Reduce", 0) == 0;
}

}  // namespace

TaskGraph tasks_of(const ov::Model& model, const TileOptions& options) {
  TaskGraph graph;
  std::unordered_map<const ov::Node*, std::vector<std::size_t>> tasks;
  // Constants, and what is computed of nothing else, such as unpacked weights.
  std::unordered_map<const ov::Node*, std::size_t> weights;
  for (const auto& node : model.get_ordered_ops()) {
    const auto inputs = node->input_values();
    const bool constant =
        ov::op::util::is_constant(node) ||
        (!inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](const auto& input) {
          return weights.contains(input.get_node());
        }));
    if (constant) {
      std::size_t bytes = ov::op::util::is_constant(node) ? bytes_of(node->output(0)) : 0;
      for (const auto& input : inputs) bytes += weights.at(input.get_node());
      weights[node.get()] = bytes;
      continue;
    }
    if (ov::op::util::is_parameter(node) || ov::op::util::is_output(node)) continue;
    std::vector<std::size_t>& own = tasks[node.get()];
    const std::size_t bytes = node->get_output_size() > 0 ? bytes_of(node->output(0)) : 1;
    for (std::size_t tile = 0; tile < options.tiles; ++tile) {
      Task task{.bytes = bytes / options.tiles + 1};
      for (const auto& input : inputs) {
        if (const auto weight = weights.find(input.get_node()); weight != weights.end()) {
          if (weight->second < 1024) continue;  // goes with the task itself
          graph.push_back({.copies = true, .bytes = weight->second / options.tiles + 1});
          task.dependencies.push_back(graph.size() - 1);
          continue;
        }
        const auto before = tasks.find(input.get_node());
        if (before == tasks.end()) continue;
        if (mixes(*node)) {
          task.dependencies.insert(task.dependencies.end(), before->second.begin(),
                                   before->second.end());
        } else {
          task.dependencies.push_back(before->second[tile]);
        }
      }
      graph.push_back(std::move(task));
      own.push_back(graph.size() - 1);
    }
  }
  return graph;
}

}  // namespace ahead::bench
