// Stages the graph by the attentions in front of each node, and cuts between stages.
// May use: base, model, OpenVINO.
#include "graph/cut_attention.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "graph/attention_piece.h"
#include "graph/crossing.h"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace ahead::graph {
namespace {

using model::CachedAttention;
using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Parameter;
using ov::op::v0::Result;

/// Depends on no input: weights and tables, which every piece may hold.
constexpr std::int64_t kConstant = -1;

/// The pieces' graphs while they are being separated.
struct Body {
  std::vector<Port> inputs;
  ov::ParameterVector parameters;
  std::vector<Port> outputs;
  ov::ResultVector results;
  std::map<NodeOutput, std::shared_ptr<Parameter>> by_source;
};

class Cutter {
 public:
  explicit Cutter(const model::Decoder& decoder)
      : layers_(static_cast<std::int64_t>(decoder.layers.size())),
        graph_(decoder.graph->clone()),
        bodies_(static_cast<std::size_t>(layers_) + 1),
        internal_(decoder.architecture) {
    const auto& inputs = graph_->get_parameters();
    external_ = {{inputs.at(0).get(), Role::kTokens},
                 {inputs.at(1).get(), Role::kPositions},
                 {inputs.at(2).get(), Role::kLogitRows}};
  }

  Cut cut() {
    const ov::NodeVector order = graph_->get_ordered_ops();
    for (const auto& node : order) stage_[node.get()] = stage_of(*node);
    for (auto node = order.rbegin(); node != order.rend(); ++node) sink(**node);
    for (const auto& node : order) {
      if (const auto attention = ov::as_type_ptr<CachedAttention>(node)) {
        take_attention(attention);
      } else if (!ov::is_type<Parameter>(node) && stage_[node.get()] != kConstant) {
        take_body_node(node);
      }
    }
    return assemble();
  }

 private:
  /// Body s runs behind attention s - 1; an attention belongs to the body in front of it.
  [[nodiscard]] std::int64_t stage_of(const ov::Node& node) const {
    if (ov::is_type<Parameter>(&node)) return 0;
    std::int64_t stage = kConstant;
    for (const auto& input : node.input_values()) {
      const ov::Node* source = input.get_node();
      const bool behind = ov::is_type<CachedAttention>(source);
      stage = std::max(stage, stage_.at(source) + (behind ? 1 : 0));
    }
    return stage;
  }

  /// Moves a node that only later bodies use to the first of them: less crosses the cut, above all
  /// what every layer derives from the positions for itself.
  void sink(const ov::Node& node) {
    std::int64_t& stage = stage_[&node];
    if (stage == kConstant || ov::is_type<Parameter>(&node) || ov::is_type<Result>(&node) ||
        ov::is_type<CachedAttention>(&node)) {
      return;
    }
    std::int64_t first_use = layers_;
    for (const auto& output : node.outputs()) {
      for (const auto& use : output.get_target_inputs()) {
        first_use = std::min(first_use, stage_.at(use.get_node()));
      }
    }
    stage = std::max(stage, first_use);
  }

  void take_attention(const std::shared_ptr<CachedAttention>& attention) {
    const std::int64_t layer = attention->attributes().layer;
    AHEAD_CHECK(stage_[attention.get()] == layer, "attentions follow one another by layer");
    attentions_[layer] = attention;
    leave(attention->input_value(0), internal_(attention->input_value(0)));
    leave(attention->input_value(1), {Role::kNewK, layer});
    leave(attention->input_value(2), {Role::kNewV, layer});
  }

  void take_body_node(const std::shared_ptr<ov::Node>& node) {
    const std::int64_t stage = stage_[node.get()];
    if (const auto result = ov::as_type_ptr<Result>(node)) {
      AHEAD_CHECK(stage == layers_, "logits come behind the last attention");
      body(stage).outputs.push_back({Role::kLogits});
      body(stage).results.push_back(result);
    }
    for (auto& input : node->inputs()) {
      const NodeOutput source = input.get_source_output();
      const std::int64_t from = stage_[source.get_node()];
      const bool crosses = ov::is_type<Parameter>(source.get_node()) || from != stage ||
                           ov::is_type<CachedAttention>(source.get_node());
      if (from == kConstant || !crosses) continue;
      input.replace_source_output(enter(stage, source));
    }
  }

  /// The parameter of body `stage` that carries `source`.
  std::shared_ptr<Parameter> enter(std::int64_t stage, const NodeOutput& source) {
    auto& parameter = body(stage).by_source[source];
    if (parameter) return parameter;
    parameter = std::make_shared<Parameter>(source.get_element_type(), source.get_partial_shape());
    stage_[parameter.get()] = stage;
    const auto external = external_.find(source.get_node());
    body(stage).parameters.push_back(parameter);
    if (external != external_.end()) {
      body(stage).inputs.push_back({external->second});
      return parameter;
    }
    const Port port = internal_(source);
    body(stage).inputs.push_back(port);
    if (!ov::is_type<CachedAttention>(source.get_node())) leave(source, port);
    return parameter;
  }

  /// Makes `source` a result of its body, once a port.
  void leave(const NodeOutput& source, const Port& port) {
    Body& from = body(stage_[source.get_node()]);
    const bool known = std::any_of(
        from.outputs.begin(), from.outputs.end(),
        [&](const Port& other) { return other.role == port.role && other.layer == port.layer; });
    if (known) return;
    from.outputs.push_back(port);
    from.results.push_back(std::make_shared<Result>(source));
  }

  Cut assemble() {
    Cut cut;
    AttentionPieces attentions(cut.pieces);
    for (std::int64_t stage = 0; stage <= layers_; ++stage) {
      const Body& from = body(stage);
      Piece piece;
      piece.name = "body." + std::to_string(stage);
      piece.graph = std::make_shared<ov::Model>(from.results, from.parameters, piece.name);
      piece.inputs = from.inputs;
      piece.outputs = from.outputs;
      cut.calls.push_back(
          {.piece = cut.pieces.size(), .inputs = from.inputs, .outputs = from.outputs});
      cut.pieces.push_back(std::move(piece));
      if (stage == layers_) break;
      const auto& attention = attentions_.at(stage);
      cut.calls.push_back(
          attentions.call(*attention, {.q = internal_(attention->input_value(0)),
                                       .attended = internal_(attention->output(0))}));
    }
    return cut;
  }

  Body& body(std::int64_t stage) { return bodies_.at(static_cast<std::size_t>(stage)); }

  const std::int64_t layers_;
  const std::shared_ptr<ov::Model> graph_;
  std::vector<Body> bodies_;
  std::unordered_map<const ov::Node*, std::int64_t> stage_;
  std::unordered_map<const ov::Node*, Role> external_;
  std::map<std::int64_t, std::shared_ptr<CachedAttention>> attentions_;
  Crossings internal_;
};

}  // namespace

Cut cut_at_attention(const model::Decoder& decoder) { return Cutter(decoder).cut(); }

}  // namespace ahead::graph
