// Moves the choice of the rows whose logits are wanted behind the last layer.
// May use: base, model, OpenVINO.
#pragma once

#include <memory>

#include "model/decoder.h"

namespace ahead::graph {

/// Some readers drop the rows that are not wanted inside the last layer already, which makes it
/// unlike the others. Returns a graph of the same logits that drops them where the layer ends, or
/// the decoder's own when not everything in between is known to treat every row by itself.
[[nodiscard]] std::shared_ptr<const ov::Model> with_late_rows(const model::Decoder& decoder);

}  // namespace ahead::graph
