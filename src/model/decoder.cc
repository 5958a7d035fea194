// Sums over a decoder's layers. May use: std.
#include "model/decoder.h"

namespace ahead::model {

std::int64_t Decoder::kv_values_per_token() const {
  std::int64_t values = 0;
  for (const AttentionShape& layer : layers) values += 2 * layer.kv_heads * layer.head_dim;
  return values;
}

}  // namespace ahead::model
