// Refuses requests that cannot be, before anything is compiled. May use: include.
#pragma once

#include <cstdint>
#include <span>

#include "ahead/generation_config.h"

namespace ahead {

struct RequestCheck {
  std::span<const std::int32_t> prompt_ids;
  const GenerationConfig& config;
  std::int64_t last_rung = 0;
  std::int64_t vocabulary = 0;
};

/// Throws Error(kInvalidArgument) naming the value and the remedy.
void check_request(const RequestCheck& request);

}  // namespace ahead
