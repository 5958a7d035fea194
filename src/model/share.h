// Equal computations, which a frontend repeats in every layer, made one. May use: OpenVINO.
#pragma once

#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// Makes operations of one type, with equal attributes and the same inputs, one operation: what
/// every layer derives from the positions is computed once. What depends on no input is left
/// alone: weights that happen to be equal belong to their own products.
void share_repeated(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::model
