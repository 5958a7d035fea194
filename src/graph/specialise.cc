// Concrete shapes, ports and attentions in place of a piece's open ones. May use: base, model,
// OpenVINO.
#include "graph/specialise.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/window.h"
#include "graph/block_attention.h"
#include "graph/element_type.h"
#include "graph/panel_product.h"
#include "model/cached_attention.h"
#include "model/fold.h"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/slice.hpp"

namespace ahead::graph {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using model::CachedAttention;
using ov::op::v0::Constant;
using ov::op::v0::Parameter;

std::size_t dim(std::int64_t value) { return static_cast<std::size_t>(value); }

std::string name_of(const Port& port) {
  static constexpr const char* kNames[] = {"tokens",  "positions", "logit_rows", "cache_bias",
                                           "cache_k", "cache_v",   "new_k",      "new_v",
                                           "logits",  "internal"};
  return std::string(kNames[static_cast<int>(port.role)]) + "." + std::to_string(port.layer) + "." +
         std::to_string(port.row);
}

/// The shape of a value that enters a piece, whatever the batch and the number of tokens.
ov::PartialShape open_shape(const Port& port, const ValueSpec& value) {
  ov::PartialShape shape(ov::Shape(value.shape));
  switch (port.role) {
    case Role::kTokens:
    case Role::kPositions:
    case Role::kLogitRows:
      return ov::PartialShape::dynamic(shape.rank());
    case Role::kNewK:
    case Role::kNewV:
      shape[1] = ov::Dimension::dynamic();
      return shape;
    default:
      AHEAD_CHECK(port.role == Role::kInternal, "only a piece without a cache has open tokens");
      return port.shape;
  }
}

/// Parameters by the value they carry, created on first use.
class Inputs {
 public:
  explicit Inputs(const ShapeContext& context) : context_(context) {}

  NodeOutput operator()(const Port& port) {
    const auto key = std::tuple(port.role, port.layer, port.row);
    auto& parameter = parameters_[key];
    if (!parameter) {
      const ValueSpec value = value_at(port, context_);
      parameter = std::make_shared<Parameter>(
          to_openvino(value.type), context_.open_tokens ? open_shape(port, value)
                                                        : ov::PartialShape(ov::Shape(value.shape)));
      parameter->set_friendly_name(name_of(port));
      parameter->output(0).set_names({name_of(port)});
    }
    return parameter;
  }

  [[nodiscard]] std::shared_ptr<Parameter> at(const Port& port) {
    (*this)(port);
    return parameters_[std::tuple(port.role, port.layer, port.row)];
  }

 private:
  const ShapeContext& context_;
  std::map<std::tuple<Role, std::int64_t, std::int64_t>, std::shared_ptr<Parameter>> parameters_;
};

std::shared_ptr<ov::op::v0::Result> result(const NodeOutput& value, const Port& port) {
  auto made = std::make_shared<ov::op::v0::Result>(value);
  made->set_friendly_name(name_of(port));
  return made;
}

NodeOutput convert(const NodeOutput& value, const ov::element::Type& type) {
  if (value.get_element_type() == type) return value;
  return std::make_shared<ov::op::v0::Convert>(value, type);
}

/// Row `row` of the batch in [1, batch * tokens, heads, dim].
NodeOutput tokens_of_row(const NodeOutput& value, const ProgramShape& shape, std::int64_t row) {
  if (shape.batch == 1) return value;
  const auto one = [](std::int64_t number) {
    return Constant::create(ov::element::i64, {1}, {number});
  };
  return std::make_shared<ov::op::v8::Slice>(value, one(row * shape.tokens),
                                             one((row + 1) * shape.tokens), one(1), one(1));
}

/// What one attention leaves behind for the runtime to store.
struct NewRowResults {
  NodeOutput k;
  NodeOutput v;
};

/// Rows of cache that layers of that shape have on the context's rung.
std::int64_t rows_kept(const model::AttentionShape& heads, const ShapeContext& context) {
  return RowsKept{heads.window, context.cache.block_rows}.of(context.shape.rung);
}

/// Replaces `attention` by one block attention a row.
NewRowResults replace(const std::shared_ptr<CachedAttention>& attention, Inputs& inputs,
                      const ShapeContext& context) {
  const auto& [layer, heads, scale] = attention->attributes();
  const ProgramShape& shape = context.shape;
  const NodeOutput sinks = attention->has_sinks() ? attention->input_value(3) : NodeOutput();
  const ov::element::Type stored = to_openvino(context.cache.type);

  // A token sees its own row as later tokens will: rounded to the cache's type.
  const NodeOutput stored_k = convert(attention->input_value(1), stored);
  const NodeOutput stored_v = convert(attention->input_value(2), stored);
  const NodeOutput seen_k = convert(stored_k, ov::element::f32);
  const NodeOutput seen_v = convert(stored_v, ov::element::f32);

  ov::OutputVector rows;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    rows.push_back(block_attention({.q = tokens_of_row(attention->input_value(0), shape, row),
                                    .k = tokens_of_row(seen_k, shape, row),
                                    .v = tokens_of_row(seen_v, shape, row),
                                    .cache_k = inputs({Role::kCacheK, layer, row}),
                                    .cache_v = inputs({Role::kCacheV, layer, row}),
                                    .bias = inputs({Role::kCacheBias, heads.window, row}),
                                    .sinks = sinks},
                                   {.heads = heads,
                                    .tokens = shape.tokens,
                                    .rows = rows_kept(heads, context),
                                    .block_rows = context.cache.block_rows,
                                    .scale = scale}));
  }
  const NodeOutput joined =
      rows.size() == 1 ? rows.front() : NodeOutput(std::make_shared<ov::op::v0::Concat>(rows, 1));
  attention->output(0).replace(joined);

  return {stored_k, stored_v};
}

/// What a piece's own parameter becomes: new rows arrive as they are stored.
NodeOutput entering(const Port& port, Inputs& inputs) {
  const NodeOutput value = inputs(port);
  if (port.role != Role::kNewK && port.role != Role::kNewV) return value;
  return convert(value, ov::element::f32);
}

/// What becomes of a piece's own result: new rows leave as they are stored.
NodeOutput leaving(const NodeOutput& value, const Port& port, const ShapeContext& context) {
  if (port.role != Role::kNewK && port.role != Role::kNewV) return value;
  return convert(value, to_openvino(context.cache.type));
}

/// Whether another piece makes the new rows of the attentions inside.
bool takes_new_rows(const Piece& piece) {
  return std::any_of(piece.inputs.begin(), piece.inputs.end(),
                     [](const Port& port) { return port.role == Role::kNewK; });
}

}  // namespace

PiecePorts ports_of(const Piece& piece, const ProgramShape& shape) {
  PiecePorts ports{piece.inputs, piece.outputs};
  if (piece.layers.empty()) return ports;
  for (const std::int64_t window : piece.windows) {
    for (std::int64_t row = 0; row < shape.batch; ++row) {
      ports.inputs.push_back({Role::kCacheBias, window, row});
    }
  }
  for (const std::int64_t layer : piece.layers) {
    for (std::int64_t row = 0; row < shape.batch; ++row) {
      ports.inputs.push_back({Role::kCacheK, layer, row});
      ports.inputs.push_back({Role::kCacheV, layer, row});
    }
    if (takes_new_rows(piece)) continue;
    ports.outputs.push_back({Role::kNewK, layer});
    ports.outputs.push_back({Role::kNewV, layer});
  }
  return ports;
}

ValueSpec value_at(const Port& port, const ShapeContext& context) {
  const ProgramShape& shape = context.shape;
  ValueSpec value{.role = port.role, .layer = port.layer, .row = port.row};
  const auto heads = [&] { return context.decoder.layers.at(dim(port.layer)); };
  const std::size_t rows = dim(context.cache.block_rows);
  const auto blocks = [&] { return dim(rows_kept(heads(), context) / context.cache.block_rows); };
  switch (port.role) {
    case Role::kTokens:
    case Role::kPositions:
      value.type = ElementType::kI32;
      value.shape = {dim(shape.batch), dim(shape.tokens)};
      break;
    case Role::kLogitRows:
      value.type = ElementType::kI32;
      value.shape = {dim(shape.batch)};
      break;
    case Role::kCacheBias:
      value.shape = {dim(RowsKept{port.layer, context.cache.block_rows}.of(shape.rung))};
      if (port.layer > 0) value.shape.insert(value.shape.begin(), dim(shape.tokens));
      break;
    case Role::kCacheK:
      value.type = context.cache.type;
      value.shape = {blocks(), dim(heads().kv_heads), dim(heads().head_dim), rows};
      break;
    case Role::kCacheV:
      value.type = context.cache.type;
      value.shape = {blocks(), dim(heads().kv_heads), rows, dim(heads().v_dim())};
      break;
    case Role::kNewK:
    case Role::kNewV:
      value.type = context.cache.type;
      value.shape = {1, dim(shape.batch * shape.tokens), dim(heads().kv_heads),
                     dim(port.role == Role::kNewK ? heads().head_dim : heads().v_dim())};
      break;
    case Role::kLogits:
      value.shape = {dim(shape.batch), dim(context.decoder.vocabulary)};
      break;
    case Role::kInternal:
      value.type = port.type;
      for (const ov::Dimension& dimension : port.shape) {
        value.shape.push_back(
            dim(dimension.is_static() ? dimension.get_length() : shape.batch * shape.tokens));
      }
      break;
  }
  return value;
}

std::shared_ptr<ov::Model> specialise(const Piece& piece, const ShapeContext& context) {
  const std::shared_ptr<ov::Model> graph = piece.graph->clone();
  Inputs inputs(context);
  const std::size_t own_inputs = piece.inputs.size() - piece.pauses;
  for (std::size_t i = 0; i < own_inputs; ++i) {
    graph->get_parameters().at(i)->output(0).replace(entering(piece.inputs[i], inputs));
  }
  for (const auto& node : graph->get_ordered_ops()) node->revalidate_and_infer_types();

  std::map<std::int64_t, NewRowResults> new_rows;
  for (const auto& node : graph->get_ordered_ops()) {
    if (const auto attention = ov::as_type_ptr<CachedAttention>(node)) {
      new_rows[attention->attributes().layer] = replace(attention, inputs, context);
    }
  }

  if (context.panels) (void)use_panels(graph);

  const PiecePorts ports = ports_of(piece, context.shape);
  ov::ParameterVector parameters;
  for (std::size_t i = 0; i + piece.pauses < ports.inputs.size(); ++i) {
    parameters.push_back(inputs.at(ports.inputs[i]));
  }
  const ov::ParameterVector& own = graph->get_parameters();
  parameters.insert(parameters.end(), own.begin() + static_cast<std::ptrdiff_t>(own_inputs),
                    own.end());
  ov::ResultVector results;
  for (std::size_t i = 0; i + 3 * piece.pauses < piece.outputs.size(); ++i) {
    results.push_back(
        result(leaving(graph->get_results().at(i)->input_value(0), piece.outputs[i], context),
               piece.outputs[i]));
  }
  for (const std::int64_t layer : piece.layers) {
    if (takes_new_rows(piece)) break;
    const Port k{Role::kNewK, layer};
    const Port v{Role::kNewV, layer};
    results.push_back(result(leaving(new_rows.at(layer).k, k, context), k));
    results.push_back(result(leaving(new_rows.at(layer).v, v, context), v));
  }
  const auto specialised =
      std::make_shared<ov::Model>(results, parameters, piece.name + "." + to_string(context.shape));
  model::fold_constants(specialised);
  specialised->validate_nodes_and_infer_types();
  return specialised;
}

}  // namespace ahead::graph
