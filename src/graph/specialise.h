// Specialising a piece to (batch, tokens, rung): concrete shapes, block-major attention, cache and
// new-row ports. May use: base, model, OpenVINO.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/cut.h"
#include "graph/program_spec.h"

namespace ahead::graph {

/// How the cache is stored, as far as a graph sees it.
struct CacheFormat {
  ElementType type = ElementType::kF32;
  std::int64_t block_rows = 128;  ///< divides every rung
};

/// The ports of a specialised piece, in order.
struct PiecePorts {
  /// The piece's own, then a bias a window and row, then K and V a layer and row.
  std::vector<Port> inputs;
  std::vector<Port> outputs;  ///< the piece's own, then new K and new V a layer
};

[[nodiscard]] PiecePorts ports_of(const Piece& piece, const ProgramShape& shape);

/// What the ports' shapes depend on.
struct ShapeContext {
  const model::Decoder& decoder;
  CacheFormat cache;
  ProgramShape shape;
  /// Leave batch and tokens open in the graph: only for a piece without attentions, on a device
  /// that takes any number of tokens.
  bool open_tokens = false;
  /// Products of 4-bit weights are the host's (panel_product.h).
  bool panels = false;
};

/// Type and shape of the value at `port`, which is not internal.
[[nodiscard]] ValueSpec value_at(const Port& port, const ShapeContext& context);

/// The graph; static unless its tokens are left open. Weights are shared with the piece; those that
/// are inputs stand behind the ports.
[[nodiscard]] std::shared_ptr<ov::Model> specialise(const Piece& piece,
                                                    const ShapeContext& context);

}  // namespace ahead::graph
