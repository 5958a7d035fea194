// What a GGUF file asks for in its metadata and tensors that OpenVINO's GGUF frontend leaves out:
// such a model would run, and write something else than it should. May use: base.
#pragma once

#include <optional>
#include <string>

#include "model/gguf_header.h"

namespace ahead::model {

/// Whether OpenVINO 2026.4's frontend has this architecture at all.
[[nodiscard]] bool frontend_knows(const std::string& architecture);

/// The first thing that changes what the model computes and that the frontend does not heed: which
/// key or tensor, its value, and what it does.
[[nodiscard]] std::optional<std::string> unheeded(const GgufHeader& header);

}  // namespace ahead::model
