// One attention as a graph of its own. May use: base, model, OpenVINO.
#include "graph/attention_piece.h"

#include <memory>

#include "base/check.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace ahead::graph {
namespace {

using model::CachedAttention;
using ov::op::v0::Parameter;

std::string heads_of(const model::AttentionShape& shape) {
  return std::to_string(shape.q_heads) + "x" + std::to_string(shape.kv_heads) + "x" +
         std::to_string(shape.head_dim) +
         (shape.value_dim == 0 ? "" : "v" + std::to_string(shape.value_dim)) +
         (shape.window == 0 ? "" : "w" + std::to_string(shape.window));
}

/// The sinks' own memory.
ov::Tensor sinks_of(const CachedAttention& attention) {
  const auto constant =
      ov::as_type_ptr<ov::op::v0::Constant>(attention.get_input_node_shared_ptr(3));
  AHEAD_CHECK(constant != nullptr, "sinks are a constant");
  const ov::Tensor view(constant->get_element_type(), constant->get_shape(),
                        constant->get_data_ptr());
  return {view, constant};
}

/// Its ports are those of its own layer; calls for other layers are counted from there.
Piece make(const CachedAttention& attention, const std::string& name) {
  const auto& attributes = attention.attributes();
  const std::int64_t layer = attributes.layer;
  const model::AttentionShape& shape = attributes.shape;
  const auto parameter = [&](std::int64_t heads, std::int64_t size) {
    return std::make_shared<Parameter>(ov::element::f32,
                                       ov::PartialShape{1, ov::Dimension::dynamic(), heads, size});
  };
  ov::ParameterVector inputs = {parameter(shape.q_heads, shape.head_dim),
                                parameter(shape.kv_heads, shape.head_dim),
                                parameter(shape.kv_heads, shape.v_dim())};
  if (attention.has_sinks()) {
    inputs.push_back(std::make_shared<Parameter>(attention.get_input_element_type(3),
                                                 attention.get_input_partial_shape(3)));
  }
  const auto cached =
      std::make_shared<CachedAttention>(ov::OutputVector(inputs.begin(), inputs.end()), attributes);
  Piece piece;
  piece.name = name;
  piece.graph = std::make_shared<ov::Model>(
      ov::ResultVector{std::make_shared<ov::op::v0::Result>(cached)}, inputs, piece.name);
  piece.inputs = {{.role = Role::kInternal, .shape = inputs[0]->get_partial_shape()},
                  {Role::kNewK, layer},
                  {Role::kNewV, layer}};
  piece.outputs = {
      {.role = Role::kInternal, .layer = 1, .shape = cached->get_output_partial_shape(0)}};
  piece.layers = {layer};
  piece.windows = {shape.window};
  piece.per_row = true;
  return piece;
}

}  // namespace

Call AttentionPieces::call(const CachedAttention& attention, const Ends& ends) {
  const auto& [layer, shape, scale] = attention.attributes();
  const std::string heads = heads_of(shape) + (attention.has_sinks() ? "+sinks" : "");
  const auto [found, added] = known_.emplace(std::pair(heads, scale), pieces_.size());
  if (added) {
    // Names tell parts apart, whatever the cut: layers are met in the same order in each.
    std::string name = "attention." + heads;
    if (known_.size() > 1) name += "." + std::to_string(known_.size());
    pieces_.push_back(make(attention, name));
  }
  Piece& piece = pieces_[found->second];
  const std::size_t weights = piece.weight_sets.size();
  if (attention.has_sinks()) piece.weight_sets.push_back({sinks_of(attention)});
  return {.piece = found->second,
          .layer = layer - piece.layers.front(),
          .weights = weights,
          .inputs = {ends.q, {Role::kNewK, layer}, {Role::kNewV, layer}},
          .outputs = {ends.attended}};
}

}  // namespace ahead::graph
