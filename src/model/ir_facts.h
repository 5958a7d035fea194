// What an IR folder says that people want to know before anything is changed or compiled.
// May use: base, include/ahead.
#pragma once

#include <filesystem>

#include "ahead/file_facts.h"

namespace ahead::model {

/// The facts of the folder's graph and config.json. Throws Error(kInvalidModel) where there is no
/// graph, or one that cannot be read.
[[nodiscard]] FileFacts ir_facts(const std::filesystem::path& folder);

}  // namespace ahead::model
