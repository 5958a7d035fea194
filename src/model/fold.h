// Folding constants without unfolding weights. May use: OpenVINO.
#pragma once

#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// Folds what is constant, shapes above all, but leaves compressed weights compressed: unfolded
/// they would be copied to f32.
void fold_constants(const std::shared_ptr<ov::Model>& graph);

/// Gives every Reshape whose result has at most one open dimension a constant pattern, and every
/// Broadcast that repeats along fixed dimensions alone a constant target, so that no computed shape
/// is left to flow through the graph, and then folds.
void settle_shapes(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::model
