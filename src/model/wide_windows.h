// Windows that no cache is long enough to need. May use: base, OpenVINO.
#pragma once

#include <cstdint>
#include <memory>

#include "model/decoder.h"

namespace ahead::model {

/// `decoder` as it is for sequences of at most `most_tokens`: an attention whose window reaches
/// over all of them has none. The same decoder where there is no such window; otherwise it shares
/// the weights.
[[nodiscard]] std::shared_ptr<const Decoder> without_wide_windows(
    std::shared_ptr<const Decoder> decoder, std::int64_t most_tokens);

}  // namespace ahead::model
