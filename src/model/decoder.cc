// Sums over a decoder's layers. May use: std.
#include "model/decoder.h"

namespace ahead::model {

std::int64_t Decoder::kv_values_per_token() const {
  std::int64_t values = 0;
  for (const AttentionShape& layer : layers)
    values += layer.kv_heads * (layer.head_dim + layer.v_dim());
  return values;
}

}  // namespace ahead::model
