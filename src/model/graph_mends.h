// Puts into a GGUF frontend's graph what the frontend left out (gguf_mends.h). May use: base,
// OpenVINO.
#pragma once

#include <string>

#include "model/gguf_mends.h"
#include "openvino/core/model.hpp"

namespace ahead::model {

/// Divides frequencies and normalises experts' weights in `graph`, whose positions come in at the
/// input `positions_input`. Layers without a rotation are not its affair: they are found once the
/// graph is canonical. Throws Error(kInvalidModel) for factors that do not fit the rotation, and
/// Error(kUnsupportedModel) where what is to be changed is not found.
void mend(ov::Model& graph, const GgufMends& mends, const std::string& positions_input);

}  // namespace ahead::model
