// The files of one `ahead run`: what it reads before the model, and where its results go.
// May use: include/ahead.
#pragma once

#include <optional>

#include "named_files.h"
#include "prompt.h"
#include "run_options.h"

namespace ahead::cli {

/// What a run knows before it has a model.
struct RunFiles {
  std::optional<Destination> json;
  std::optional<Destination> trace;
  PromptMaterial material;
};

/// Throws Error(kInvalidArgument) for a file that cannot be read or written, and for an output that
/// is an input or another output. May wait, as for a pipe that nobody writes to.
[[nodiscard]] RunFiles open_files(const RunRequest& request);

}  // namespace ahead::cli
