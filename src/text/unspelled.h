// What of a text a vocabulary cannot spell: tokens then leave it out, or make other bytes of it.
// May use: base.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace ahead::text {

struct Unspelled {
  std::int64_t characters = 0;    ///< of the text, each time that it stands there
  std::string first;              ///< the first of them as "U+0004"; empty when there is none
  std::int64_t broken_bytes = 0;  ///< that are no UTF-8
  std::int64_t broken_at = -1;    ///< the first of them, counted from 0; -1 when there is none
};

/// Costs an encoding and a decoding of the text, and little more where all of it can be spelled.
[[nodiscard]] Unspelled unspelled(const Tokenizer& tokenizer, std::string_view text);

}  // namespace ahead::text
