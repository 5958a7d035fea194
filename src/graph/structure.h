// What a node does, apart from its name and its inputs, as bytes that can be compared.
// May use: base, model, OpenVINO.
#pragma once

#include <string>

#include "openvino/core/node.hpp"

namespace ahead::graph {

/// Operation, attributes, and types and shapes of the outputs; of a constant its value too; of an
/// attention not its layer. Equal for two nodes only if one can stand for the other; a node whose
/// attributes cannot be read equals itself alone.
[[nodiscard]] std::string structure_of(const ov::Node& node);

}  // namespace ahead::graph
