// GGUF through OpenVINO's own frontend, quantised weights kept compressed. May use: base, OpenVINO.
#pragma once

#include <filesystem>

#include "model/reader.h"

namespace ahead::model {

/// Throws Error(kInvalidModel | kUnsupportedModel).
[[nodiscard]] ReadModel read_gguf(const std::filesystem::path& path);

}  // namespace ahead::model
