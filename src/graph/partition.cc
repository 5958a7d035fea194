// Pieces to a program's specification and graphs. May use: base, model, OpenVINO.
#include "graph/partition.h"

#include <map>
#include <tuple>
#include <utility>

namespace ahead::graph {

PartitionedDecoder::PartitionedDecoder(std::shared_ptr<const model::Decoder> decoder,
                                       Options options)
    : decoder_(std::move(decoder)),
      cache_(options.cache),
      pieces_(cut(*decoder_, options.partition)) {}

ProgramSpec PartitionedDecoder::spec(const ProgramShape& shape) const {
  const ShapeContext context{*decoder_, cache_, shape};
  ProgramSpec spec;
  spec.shape = shape;
  std::map<std::tuple<Role, std::int64_t, std::int64_t>, std::size_t> numbers;
  const auto number = [&](const Port& port) {
    const auto [found, added] =
        numbers.emplace(std::tuple(port.role, port.layer, port.row), spec.values.size());
    if (added) spec.values.push_back(value_at(port, context));
    return found->second;
  };
  for (const Piece& piece : pieces_) {
    const PiecePorts ports = ports_of(piece, shape);
    CallSpec call;
    call.part = spec.parts.size();
    for (const Port& port : ports.inputs) call.inputs.push_back(number(port));
    for (const Port& port : ports.outputs) call.outputs.push_back(number(port));
    spec.parts.push_back({.name = piece.name, .depends_on_rung = !piece.layers.empty()});
    spec.calls.push_back(std::move(call));
  }
  return spec;
}

std::shared_ptr<ov::Model> PartitionedDecoder::build(const ProgramShape& shape,
                                                     std::size_t part) const {
  return specialise(pieces_.at(part), {*decoder_, cache_, shape});
}

}  // namespace ahead::graph
