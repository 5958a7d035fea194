// One function a partition. May use: base, model, OpenVINO.
#include "graph/cut.h"

#include "graph/cut_attention.h"
#include "graph/cut_blocks.h"

namespace ahead::graph {
namespace {

Cut cut_whole(const model::Decoder& decoder) {
  Piece piece;
  piece.name = "whole";
  piece.graph = decoder.graph;
  piece.inputs = {{Role::kTokens}, {Role::kPositions}, {Role::kLogitRows}};
  piece.outputs = {{Role::kLogits}};
  for (std::size_t layer = 0; layer < decoder.layers.size(); ++layer) {
    piece.layers.push_back(static_cast<std::int64_t>(layer));
    piece.windows.insert(decoder.layers[layer].window);
  }
  const Call call{.inputs = piece.inputs, .outputs = piece.outputs};
  return {.pieces = {piece}, .calls = {call}};
}

}  // namespace

Cut cut(const model::Decoder& decoder, Partition partition) {
  switch (partition.kind) {
    case Partition::Kind::kWhole:
      break;
    case Partition::Kind::kBlocks:
      return cut_in_blocks(decoder, partition.block_layers);
    case Partition::Kind::kAttention:
      return cut_at_attention(decoder);
  }
  return cut_whole(decoder);
}

}  // namespace ahead::graph
