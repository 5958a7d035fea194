// Sampling and text of one sequence. May use: base, text.
#include "api/row_request.h"

#include <algorithm>
#include <utility>

#include "base/mapped_files.h"

namespace ahead {

RowRequest::RowRequest(std::span<const std::int32_t> prompt_ids, const text::Tokenizer& tokenizer,
                       const GenerationConfig& config, Streamer streamer)
    : config_(config),
      streamer_(std::move(streamer)),
      sampler_({.do_sample = config.do_sample,
                .temperature = config.temperature,
                .top_k = config.top_k,
                .top_p = config.top_p,
                .repetition_penalty = config.repetition_penalty,
                .seed = config.rng_seed}),
      output_(tokenizer, config, streamer_,
              prompt_ids.empty() ? std::nullopt : std::optional(prompt_ids.back())) {
  sampler_.see(prompt_ids);
}

std::int32_t RowRequest::choose(std::span<const float> logits) {
  check_mapped();  // weights that are gone were zeroes
  if (config_.forced_token_ids.empty()) return sampler_.next(logits);
  sampler_.check(logits);  // what is not looked at may be broken too
  return config_.forced_token_ids.at(forced_++);
}

std::int64_t most_tokens(const GenerationConfig& config) {
  if (config.forced_token_ids.empty()) return config.max_new_tokens;
  return std::min(config.max_new_tokens, static_cast<std::int64_t>(config.forced_token_ids.size()));
}

}  // namespace ahead
