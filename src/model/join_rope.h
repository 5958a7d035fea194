// One rotation for q and k. May use: base, OpenVINO.
#pragma once

#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// Rotates q and k together where both are rotated by the same tables (rewrite_rope()) and are
/// neighbouring slices of one product (merge_products()).
void join_rope(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::model
