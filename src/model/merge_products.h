// Products of one activation with several weights made one product. May use: OpenVINO.
#pragma once

#include <memory>

#include "openvino/core/model.hpp"

namespace ahead::model {

/// Joins products that take the same activation and whose weights [outputs, inputs] are compressed
/// the same way, such as q, k and v, into one with the weights' constants one behind the other and
/// a VariadicSplit of the last axis behind it. Every row of the result is computed as before. The
/// constants exist once: the originals go with the products they belonged to, one group at a time.
///
/// The product with the vocabulary stays, and so does one whose weights something else uses.
void merge_products(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::model
