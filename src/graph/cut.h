// Where a Decoder is cut: pieces of its canonical graph, still without concrete shapes, and the
// order in which they are called. May use: base, model, OpenVINO.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "graph/program_spec.h"
#include "model/decoder.h"
#include "openvino/core/model.hpp"
#include "openvino/runtime/tensor.hpp"

namespace ahead::graph {

/// A port of a piece, or of what it becomes. (role, layer, row) names the value that flows there.
struct Port {
  Role role = Role::kInternal;
  std::int64_t layer = 0;  ///< for an internal value its number
  std::int64_t row = 0;
  /// For an internal value: its type, and its shape, in which an open dimension is batch * tokens.
  ElementType type = ElementType::kF32;
  ov::PartialShape shape = {};
};

/// A connected piece of the canonical graph, with the CachedAttentions inside it. `inputs` and
/// `outputs` name the graph's own ports in order; caches, biases and, unless another piece makes
/// them, new rows are added when the piece is specialised.
struct Piece {
  std::string name;
  std::shared_ptr<const ov::Model> graph;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  /// Layers of the CachedAttentions inside, in order, counted from the call's layer.
  std::vector<std::int64_t> layers;
  std::set<std::int64_t> windows = {};  ///< of these; 0 for those without
  /// One sequence at a time: called once for every sequence of the batch.
  bool per_row = false;
  /// How often the graph pauses (pause.h). What comes in at pause p is the input p behind the
  /// graph's own; what goes out, q and the new rows, the outputs 3p to 3p + 2 behind its own.
  std::size_t pauses = 0;
  /// What stands at the graph's parameters behind `inputs`: the weights of every use whose calls
  /// share the piece. Views of the decoder's constants, which they keep alive.
  std::vector<std::vector<ov::Tensor>> weight_sets = {};
};

/// One use of a piece. Its ports' values, in the order of the piece's; caches, biases and new rows
/// are those of `layer` and on.
struct Call {
  std::size_t piece = 0;
  std::int64_t layer = 0;
  std::size_t weights = 0;  ///< which of the piece's weight sets, if it has any
  /// Made at this pause of the piece that pauses, which is called in front of it.
  std::optional<std::size_t> pause = std::nullopt;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

/// A decoder in pieces.
struct Cut {
  std::vector<Piece> pieces;
  std::vector<Call> calls;  ///< in the order they run
};

/// `whole` is the case of one piece; cut_joined.h has one more. Throws Error(kUnsupportedModel)
/// when the decoder cannot be cut there.
[[nodiscard]] Cut cut(const model::Decoder& decoder, Partition partition);

}  // namespace ahead::graph
