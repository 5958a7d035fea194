// One sequence's side of a request: which token is next, and what becomes of it. May use: text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ahead/generation_config.h"
#include "ahead/run_result.h"
#include "api/text_output.h"
#include "text/sampler.h"
#include "text/tokenizer.h"

namespace ahead {

/// Decode thread only. Config, streamer and tokenizer must outlive it.
class RowRequest {
 public:
  RowRequest(std::span<const std::int32_t> prompt_ids, const text::Tokenizer& tokenizer,
             const GenerationConfig& config, Streamer streamer);

  /// The forced token, or the sampled one.
  [[nodiscard]] std::int32_t choose(std::span<const float> logits);

  /// Takes a token; a reason ends the sequence.
  [[nodiscard]] std::optional<FinishReason> accept(std::int32_t id) { return output_.accept(id); }

  /// Gives out what is still held back, and moves text and ids into `row`.
  void finish(RowResult& row) { output_.finish(row); }

 private:
  const GenerationConfig& config_;
  const Streamer streamer_;
  text::Sampler sampler_;
  std::size_t forced_ = 0;  ///< forced tokens taken
  TextOutput output_;
};

/// Tokens to generate at most: the forced ones end too.
[[nodiscard]] std::int64_t most_tokens(const GenerationConfig& config);

}  // namespace ahead
