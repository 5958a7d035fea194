// A model's decode graph as tasks. May use: graph, OpenVINO.
#pragma once

#include "deps/task_graph.h"
#include "openvino/core/model.hpp"

namespace ahead::bench {

struct TileOptions {
  std::size_t tiles = 4;  ///< of each operation; each tile's weights come by a copy of their own
};

/// Each operation becomes `tiles` tasks, each of which depends on all tasks of the operations
/// before it where these mix their elements (products, reductions, softmax), else on the same tile.
[[nodiscard]] TaskGraph tasks_of(const ov::Model& model, const TileOptions& options);

}  // namespace ahead::bench
