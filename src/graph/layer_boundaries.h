// Where one layer of a decoder ends and the next begins. May use: base, model, OpenVINO.
#pragma once

#include <vector>

#include "model/decoder.h"
#include "openvino/core/node.hpp"

namespace ahead::graph {

/// Nodes with one output; what consumes it is behind the boundary.
struct LayerBoundaries {
  /// In front of every layer: the last value, ahead of its attention, through which all that the
  /// attention before it (for the first layer, the embedding) contributes must go. In a residual
  /// decoder that is the residual stream.
  std::vector<const ov::Node*> layers;
  /// Other places where the first layer can begin, and places where the last one can end, the
  /// likeliest first; not empty.
  std::vector<const ov::Node*> first_begins;
  std::vector<const ov::Node*> last_ends;
};

[[nodiscard]] LayerBoundaries find_layer_boundaries(const model::Decoder& decoder);

}  // namespace ahead::graph
