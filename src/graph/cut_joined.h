// Cutting a decoder at every attention and leaving what lies between in one piece.
// May use: base, model, OpenVINO.
#pragma once

#include "graph/cut.h"

namespace ahead::graph {

/// One piece, "bodies", that pauses where a layer attends, and an attention called there. The
/// calls of the bodies that cut_at_attention() makes, one a layer and one more, become one. Throws
/// Error(kUnsupportedModel) when a layer's queries cannot cross.
[[nodiscard]] Cut cut_joined(const model::Decoder& decoder);

}  // namespace ahead::graph
