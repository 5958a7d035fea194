// A stateful OpenVINO IR folder, as exported for OpenVINO GenAI. May use: base, OpenVINO.
#pragma once

#include <filesystem>

#include "model/reader.h"

namespace ahead::model {

/// Throws Error(kInvalidModel | kUnsupportedModel).
[[nodiscard]] ReadModel read_ir_folder(ov::Core& core, const std::filesystem::path& folder);

}  // namespace ahead::model
