// The cut between layers, with the weights as inputs. May use: base, model, OpenVINO.
#pragma once

#include <cstdint>

#include "graph/cut.h"

namespace ahead::graph {

/// A piece for what stands in front of the first layer, pieces of `block_layers` (from 1)
/// consecutive layers, and one for what stands behind the last. Groups of layers that differ in
/// nothing but their weights share a piece and bring their weights as inputs; a last, smaller group
/// has its own. Throws Error(kUnsupportedModel) when layers do not follow one another.
[[nodiscard]] Cut cut_in_blocks(const model::Decoder& decoder, std::int64_t block_layers);

}  // namespace ahead::graph
