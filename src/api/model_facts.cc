// What a model's cache comes to. May use: include/ahead, base.
#include <algorithm>

#include "ahead/run_result.h"
#include "base/window.h"

namespace ahead {

std::int64_t ModelFacts::kv_values(std::int64_t rung, std::int64_t block_rows) const {
  std::int64_t values = kv_values_per_token * rung;
  for (const Window& window : windows) {
    const std::int64_t kept = RowsKept{window.tokens, block_rows}.of(rung);
    values -= window.kv_values_per_token * (rung - kept);
  }
  return values;
}

}  // namespace ahead
