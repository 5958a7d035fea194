// Where a Decoder is cut: pieces of its canonical graph, still without concrete shapes.
// May use: base, model, OpenVINO.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "graph/program_spec.h"
#include "model/decoder.h"
#include "openvino/core/model.hpp"

namespace ahead::graph {

/// A port of a piece, or of what it becomes. (role, layer, row) names the value that flows there;
/// an internal value has its number as layer.
struct Port {
  Role role = Role::kInternal;
  std::int64_t layer = 0;
  std::int64_t row = 0;
};

/// A connected piece of the canonical graph, with the CachedAttentions inside it. `inputs` and
/// `outputs` name the graph's own ports in order; caches, biases and new rows are added when the
/// piece is specialised.
struct Piece {
  std::string name;
  std::shared_ptr<const ov::Model> graph;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  /// Layers of the CachedAttentions inside, in order.
  std::vector<std::int64_t> layers;
};

/// The pieces in the order they run. `whole` is the case of one piece.
[[nodiscard]] std::vector<Piece> cut(const model::Decoder& decoder, Partition partition);

}  // namespace ahead::graph
