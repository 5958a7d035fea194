// A stateful OpenVINO IR folder, as exported for OpenVINO GenAI. May use: base, OpenVINO.
#pragma once

#include <filesystem>

#include "model/reader.h"

namespace ahead::model {

/// A folder's graph as it stands there, and the file of its weights, open since it was read.
struct IrGraph {
  std::shared_ptr<ov::Model> graph;
  std::shared_ptr<const InputFile> weights;
};
/// Throws Error(kInvalidModel) naming the file that is missing or cannot be read.
[[nodiscard]] IrGraph read_ir_graph(ov::Core& core, const std::filesystem::path& folder);

/// Throws Error(kInvalidModel | kUnsupportedModel).
[[nodiscard]] ReadModel read_ir_folder(ov::Core& core, const std::filesystem::path& folder);

}  // namespace ahead::model
