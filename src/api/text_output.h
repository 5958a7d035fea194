// From chosen tokens to streamed text: end tokens, stop strings, whole characters. May use: text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ahead/generation_config.h"
#include "ahead/run_result.h"
#include "text/stop_matcher.h"
#include "text/tokenizer.h"
#include "text/utf8_stream.h"

namespace ahead {

/// Collects one request's output. Decode thread only; the tokenizer must outlive it.
class TextOutput {
 public:
  /// `behind`: the prompt's last token; a decoder may write the text's first words otherwise than
  /// those behind others.
  TextOutput(const text::Tokenizer& tokenizer, const GenerationConfig& config,
             const Streamer& streamer, std::optional<std::int32_t> behind = std::nullopt);

  /// Takes a token; a reason ends the request.
  [[nodiscard]] std::optional<FinishReason> accept(std::int32_t id);

  /// Gives out what is still held back, and moves text and ids into `row`.
  void finish(RowResult& row);

 private:
  /// Passes text on; false when the streamer wants to end.
  bool emit(const std::string& piece);

  const text::Tokenizer& tokenizer_;
  const Streamer streamer_;
  const bool ignore_eos_;
  text::Utf8Stream characters_;
  text::StopMatcher stops_;
  std::string text_;
  std::vector<std::int32_t> ids_;
  std::optional<FinishReason> wish_;  ///< what the streamer answered last
};

}  // namespace ahead
