// A folder that is no OpenVINO IR folder: what is in it, and what to give instead. May use: base.
#pragma once

#include <filesystem>

#include "ahead/error.h"

namespace ahead::model {

/// Whether `folder` has the graph of an OpenVINO IR folder by its name.
[[nodiscard]] bool has_ir(const std::filesystem::path& folder);

/// An Error(kInvalidModel) for a folder without one: the GGUF file in it to give, weights that must
/// be exported first, a folder in it that has a model.
[[nodiscard]] Error no_ir_folder(const std::filesystem::path& folder);

}  // namespace ahead::model
