// Whether a GGUF file holds a whole text model, and one whose header OpenVINO's GGUF frontend can
// read at all. May use: base.
#pragma once

#include <optional>
#include <string>

#include "model/gguf_header.h"

namespace ahead::model {

/// Why the file holds no whole text model (one part of several, a vocabulary, an adapter, ...), and
/// behind a semicolon what to do; in words that follow "is ".
[[nodiscard]] std::optional<std::string> no_text_model(const GgufHeader& header);

/// The first thing that the frontend cannot read, for its type, though it needs to or reads all
/// keys: which key, what it is, and behind a semicolon what to do.
[[nodiscard]] std::optional<std::string> unreadable(const GgufHeader& header);

}  // namespace ahead::model
