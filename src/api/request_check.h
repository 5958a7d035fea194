// Refuses requests that cannot be, before anything is compiled. May use: include.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ahead/generation_config.h"
#include "ahead/run_result.h"

namespace ahead {

struct RequestCheck {
  std::span<const std::int32_t> prompt_ids;
  const GenerationConfig& config;
  std::int64_t last_rung = 0;
  std::int64_t vocabulary = 0;
};

/// Throws Error(kInvalidArgument) naming the value and the remedy.
void check_request(const RequestCheck& request);

/// A batch's prompts apart: those that can run, and why the others cannot.
struct SortedPrompts {
  std::vector<std::vector<std::int32_t>> prompts;
  std::vector<std::size_t> places;  ///< of `prompts`, among all
  std::vector<RowResult> refused;   ///< one a prompt of all; without an error where it can run
};

/// `check` throws Error(kInvalidArgument) for a prompt that cannot run; of the others no more than
/// `most` do. Throws Error(kInvalidArgument) when none is left.
[[nodiscard]] SortedPrompts sort_prompts(
    std::span<const std::vector<std::int32_t>> prompts, std::size_t most,
    const std::function<void(const std::vector<std::int32_t>&)>& check);

}  // namespace ahead
