// Pieces to a program's specification and graphs. May use: base, model, OpenVINO.
#include "graph/partition.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/window.h"
#include "graph/cut_joined.h"
#include "openvino/op/constant.hpp"

namespace ahead::graph {

namespace {

/// The shape one call of a piece sees.
ProgramShape shape_for(const Piece& piece, ProgramShape shape) {
  if (piece.per_row) shape.batch = 1;
  return shape;
}

bool is_of_layer(Role role) {
  return role == Role::kCacheK || role == Role::kCacheV || role == Role::kNewK ||
         role == Role::kNewV;
}

/// Values numbered as they are met.
class Values {
 public:
  Values(const ShapeContext& context, std::vector<ValueSpec>& values)
      : context_(context), values_(values) {}

  std::size_t operator()(const Port& port) {
    const auto [found, added] =
        numbers_.emplace(std::tuple(port.role, port.layer, port.row), values_.size());
    if (added) values_.push_back(value_at(port, context_));
    return found->second;
  }

 private:
  const ShapeContext& context_;
  std::vector<ValueSpec>& values_;
  std::map<std::tuple<Role, std::int64_t, std::int64_t>, std::size_t> numbers_;
};

/// Operations that compute, and the weights they hold.
PieceSize size_of(const ov::Model& graph) {
  PieceSize size;
  for (const auto& node : graph.get_ops()) {
    if (const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node)) {
      size.weight_bytes += static_cast<std::int64_t>(constant->get_byte_size());
    } else {
      ++size.operations;
    }
  }
  return size;
}

/// Rows that every attention inside keeps at most; without a limit where one keeps all.
std::int64_t most_rows_kept(const Piece& piece, std::int64_t block_rows) {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (const std::int64_t window : piece.windows) {
    most = std::max(most, RowsKept{window, block_rows}.of(kNoLimit));
  }
  return most == 0 ? kNoLimit : most;
}

/// One call for sequence `row`, or for the whole batch when `row` is kWholeBatch.
CallSpec call_spec(const Call& call, const PiecePorts& ports, std::int64_t row, Values& values) {
  const auto use = [&](std::size_t index, const Port& formal, const std::vector<Port>& own) {
    Port port = index < own.size() ? own[index] : formal;
    if (index >= own.size()) {
      if (is_of_layer(port.role)) port.layer += call.layer;
      if (row != kWholeBatch) port.row = row;
      return ValueUse{values(port)};
    }
    return ValueUse{values(port), row};
  };
  CallSpec spec{.part = call.piece, .weights = call.weights, .row = row};
  for (std::size_t i = 0; i < ports.inputs.size(); ++i) {
    spec.inputs.push_back(use(i, ports.inputs[i], call.inputs));
  }
  for (std::size_t i = 0; i < ports.outputs.size(); ++i) {
    spec.outputs.push_back(use(i, ports.outputs[i], call.outputs));
  }
  return spec;
}

}  // namespace

PartitionedDecoder::PartitionedDecoder(std::shared_ptr<const model::Decoder> decoder,
                                       Options options)
    : decoder_(std::move(decoder)),
      cache_(options.cache),
      open_tokens_(options.open_tokens),
      panels_(options.panels),
      cut_(options.joined ? cut_joined(*decoder_) : cut(*decoder_, options.partition)) {
  AHEAD_CHECK(!options.joined ||
                  (options.partition.kind == Partition::Kind::kAttention && !options.open_tokens),
              "joined are static bodies of a cut at attention");
  AHEAD_CHECK(!options.panels || options.joined, "panels are for joined bodies");
  for (const Piece& piece : cut_.pieces) sizes_.push_back(size_of(*piece.graph));
}

ProgramSpec PartitionedDecoder::spec(const ProgramShape& shape) const {
  const ShapeContext context{*decoder_, cache_, shape};
  ProgramSpec spec;
  spec.shape = shape;
  Values values(context, spec.values);
  for (const Piece& piece : cut_.pieces) {
    const bool open = open_tokens_ && piece.layers.empty();
    spec.parts.push_back({.name = piece.name,
                          .depends_on_rung = !piece.layers.empty(),
                          .rows_kept = most_rows_kept(piece, cache_.block_rows),
                          .depends_on_batch = !piece.per_row && !open,
                          .depends_on_tokens = !open,
                          .depends_on_tier = !piece.per_row,
                          .holds_weights = !piece.per_row,
                          .operations = sizes_[spec.parts.size()].operations,
                          .weight_bytes = sizes_[spec.parts.size()].weight_bytes});
  }
  std::size_t pausing = 0;
  for (const Call& call : cut_.calls) {
    const Piece& piece = cut_.pieces[call.piece];
    const PiecePorts ports = ports_of(piece, shape_for(piece, shape));
    if (piece.pauses > 0) pausing = spec.calls.size();
    const auto add = [&](std::int64_t row) {
      spec.calls.push_back(call_spec(call, ports, row, values));
      if (call.pause) spec.calls.back().within = PausePoint{pausing, *call.pause};
    };
    if (!piece.per_row || shape.batch == 1) {
      add(kWholeBatch);
      continue;
    }
    for (std::int64_t row = 0; row < shape.batch; ++row) add(row);
  }
  return spec;
}

std::shared_ptr<ov::Model> PartitionedDecoder::build(const ProgramShape& shape,
                                                     std::size_t part) const {
  const Piece& piece = cut_.pieces.at(part);
  const bool bodies = piece.layers.empty();
  return specialise(piece, {.decoder = *decoder_,
                            .cache = cache_,
                            .shape = shape_for(piece, shape),
                            .open_tokens = open_tokens_ && bodies,
                            .panels = panels_ && bodies});
}

const std::vector<std::vector<ov::Tensor>>& PartitionedDecoder::weight_sets(
    std::size_t part) const {
  return cut_.pieces.at(part).weight_sets;
}

}  // namespace ahead::graph
