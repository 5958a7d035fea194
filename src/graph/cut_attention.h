// The cut on both sides of every attention. May use: base, model, OpenVINO.
#pragma once

#include "graph/cut.h"

namespace ahead::graph {

/// Body pieces hold the weights and do not depend on the rung; between two of them stands one
/// weightless attention piece, shared by all layers of the same shape and called a sequence at a
/// time. Throws Error(kUnsupportedModel) when something but floats crosses the cut.
[[nodiscard]] Cut cut_at_attention(const model::Decoder& decoder);

}  // namespace ahead::graph
