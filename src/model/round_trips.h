// Conversions and reshapes that a cache write left behind. May use: OpenVINO.
#pragma once

#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// Takes out chains of reshapes that end in the shape they began with, and rounding to the type of
/// the reader's own cache on the way of new K and V rows to a CachedAttention: whoever stores the
/// rows rounds them.
void drop_round_trips(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::model
