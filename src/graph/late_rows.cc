// Follows the chosen rows to the logits, takes the choice out and puts it back where the last layer
// ends. May use: base, model, OpenVINO.
#include "graph/late_rows.h"

#include <optional>
#include <unordered_set>
#include <vector>

#include "graph/layer_boundaries.h"
#include "graph/row_axis.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/unsqueeze.hpp"
#include "openvino/op/util/gather_base.hpp"

namespace ahead::graph {
namespace {

using ov::op::v0::Constant;

/// How a graph chooses rows.
struct Choice {
  ov::Output<ov::Node> rows;  ///< the wanted ones' numbers
  ov::NodeVector gathers;
  RowAxes axes;  ///< of what is behind
};

/// A choice of rows, and what it does to the shape: the numbers' dimensions stand for the rows',
/// one of them open, the others 1.
struct Gathering {
  std::int64_t axis = 0;            ///< of the rows behind it
  std::vector<std::int64_t> added;  ///< axes of 1
};

std::optional<Gathering> gathering(const ov::Node& node) {
  if (!ov::is_type<ov::op::util::GatherBase>(&node)) return std::nullopt;
  const auto axis = ov::as_type_ptr<Constant>(node.get_input_node_shared_ptr(2));
  const ov::Rank rank = node.get_input_partial_shape(0).rank();
  const ov::PartialShape& numbers = node.get_input_partial_shape(1);
  if (!axis || rank.is_dynamic() || numbers.rank().is_dynamic()) return std::nullopt;
  std::int64_t from = axis->cast_vector<std::int64_t>().at(0);
  if (from < 0) from += rank.get_length();
  Gathering found{.axis = -1};
  for (const ov::Dimension& dimension : numbers) {
    if (dimension == 1) {
      found.added.push_back(from);
    } else if (found.axis < 0 && dimension.is_dynamic()) {
      found.axis = from;
    } else {
      return std::nullopt;
    }
    ++from;
  }
  return found.axis < 0 ? std::nullopt : std::optional(found);
}

/// What `gather` would give if all rows were wanted.
ov::Output<ov::Node> all_rows_of(const ov::Node& gather) {
  const std::vector<std::int64_t> added = gathering(gather)->added;
  if (added.empty()) return gather.input_value(0);
  return std::make_shared<ov::op::v0::Unsqueeze>(
      gather.input_value(0), Constant::create(ov::element::i64, {added.size()}, added));
}

/// Nothing when the rows' choice cannot be followed to the logits.
std::optional<Choice> follow(const ov::Model& graph) {
  Choice choice;
  std::unordered_set<const ov::Node*> numbers = {graph.get_parameters().at(2).get()};
  for (const auto& node : graph.get_ordered_ops()) {
    bool has_rows = false;
    bool all_numbers = node->get_input_size() > 0;
    bool some_numbers = false;
    for (const auto& input : node->input_values()) {
      has_rows = has_rows || choice.axes.count(input) > 0;
      const bool is_number = numbers.count(input.get_node()) > 0;
      some_numbers = some_numbers || is_number;
      all_numbers = all_numbers && (is_number || ov::is_type<Constant>(input.get_node()));
    }
    if (ov::is_type<ov::op::v0::Result>(node) || (!has_rows && !some_numbers)) continue;
    if (some_numbers && all_numbers) {
      numbers.insert(node.get());
      continue;
    }
    std::optional<std::int64_t> axis;
    if (some_numbers) {
      const auto found = gathering(*node);
      if (!found || has_rows || numbers.count(node->get_input_node_ptr(0)) > 0) return std::nullopt;
      axis = found->axis;
      choice.rows = node->input_value(1);
      choice.gathers.push_back(node);
    } else {
      axis = row_axis_behind(*node, choice.axes);
    }
    if (!axis) return std::nullopt;
    for (const auto& output : node->outputs()) choice.axes[output] = *axis;
  }
  return choice;
}

/// Leaves out what reshapes back and forth around the choices that were taken out.
void join_reshapes(ov::Model& graph, const Choice& choice) {
  graph.validate_nodes_and_infer_types();
  for (const auto& node : graph.get_ordered_ops()) {
    if (!only_reshapes(*node) || choice.axes.count(node->output(0)) == 0) continue;
    ov::Output<ov::Node> source = node->input_value(0);
    while (source.get_partial_shape() != node->get_output_partial_shape(0)) {
      if (!only_reshapes(*source.get_node())) break;
      source = source.get_node()->input_value(0);
    }
    if (source.get_partial_shape() == node->get_output_partial_shape(0)) {
      node->output(0).replace(source);
    }
  }
}

/// Whether the logits depend on the graph's inputs through `gate` alone, by nodes that treat every
/// row by itself.
bool is_gate(const ov::Node* gate, const RowAxes& axes, const ov::Model& graph) {
  std::unordered_set<const ov::Node*> varying;
  for (const auto& node : graph.get_ordered_ops()) {
    bool varies = ov::is_type<ov::op::v0::Parameter>(node);
    for (const auto& input : node->input_values()) {
      varies = varies || varying.count(input.get_node()) > 0;
    }
    if (varies) varying.insert(node.get());
  }
  std::vector<const ov::Node*> open = {graph.get_results().at(0).get()};
  std::unordered_set<const ov::Node*> seen = {gate};
  while (!open.empty()) {
    const ov::Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    for (const auto& input : node->input_values()) {
      if (input.get_node() == gate || varying.count(input.get_node()) == 0) continue;
      if (axes.count(input) == 0) return false;
      open.push_back(input.get_node());
    }
  }
  return true;
}

}  // namespace

std::shared_ptr<const ov::Model> with_late_rows(const model::Decoder& decoder) {
  const std::shared_ptr<ov::Model> graph = decoder.graph->clone();
  const std::optional<Choice> choice = follow(*graph);
  if (!choice || choice->gathers.empty()) return decoder.graph;

  for (const auto& gather : choice->gathers) gather->output(0).replace(all_rows_of(*gather));
  join_reshapes(*graph, *choice);
  model::Decoder all_rows = decoder;
  all_rows.graph = graph;
  const ov::Node* end = find_layer_boundaries(all_rows).last_ends.front();
  const ov::Output<ov::Node> value = std::const_pointer_cast<ov::Node>(end->shared_from_this());
  const auto axis = choice->axes.find(value);
  if (axis == choice->axes.end() || !is_gate(end, choice->axes, *graph)) return decoder.graph;

  const auto uses = value.get_target_inputs();
  const auto rows = std::make_shared<ov::op::v1::Reshape>(
      choice->rows, Constant::create(ov::element::i64, {1}, {-1}), false);
  const auto late = std::make_shared<ov::op::v8::Gather>(
      value, rows, Constant::create(ov::element::i64, {}, {axis->second}));
  late->set_friendly_name("wanted_rows");
  for (auto use : uses) use.replace_source_output(late);
  graph->validate_nodes_and_infer_types();
  return graph;
}

}  // namespace ahead::graph
