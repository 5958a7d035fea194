// What one call of LLMPipeline::generate is asked to do. Field names follow OpenVINO GenAI's
// GenerationConfig where the meaning is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ahead {

/// A streaming callback's answer.
enum class StreamingStatus {
  kRunning,  ///< go on
  kStop,     ///< end here; what was produced is the result
  kCancel,   ///< end here; the result says so
};

/// Called on the thread that called generate() with text that is complete UTF-8.
using Streamer = std::function<StreamingStatus(std::string_view text)>;

/// The same for a batch: `row` is the prompt's index.
using BatchStreamer = std::function<StreamingStatus(std::size_t row, std::string_view text)>;

/// One decode step's logits.
struct StepLogits {
  std::int64_t row = 0;       ///< sequence of the batch
  std::int64_t position = 0;  ///< live tokens when the step ran; its token stands at this position
  std::int64_t rung = 0;      ///< capacity of the program that ran it
  std::span<const float> values;  ///< one per vocabulary entry; valid only during the call
};

/// Called on the thread that called generate(), once a decode step, before the token is chosen.
using LogitsObserver = std::function<void(const StepLogits&)>;

/// Something worth telling a waiting person.
struct Progress {
  enum class Kind {
    kCompileBegin,  ///< `program`@`rung` starts compiling; `foreground` when the request waits
    /// It ended: after `seconds` of compiling, or of waiting for it when `foreground`. One that
    /// failed is told as an error where the program is needed.
    kCompileEnd,
    kPrefill,   ///< `tokens` of the prompts are in the cache, over all sequences
    kToken,     ///< `tokens` are generated, over all sequences
    kBoundary,  ///< the request moved to `rung`; it waited `seconds`
  };
  Kind kind = Kind::kToken;
  std::string_view program;  ///< "prefill" or "decode"
  std::int64_t row = 0;      ///< sequence of the batch, of kPrefill, kToken and kBoundary
  std::int64_t rung = 0;
  std::int64_t tokens = 0;
  std::int64_t prompt_tokens = 0;  ///< of kPrefill and kToken: those of all prompts together
  std::int64_t sequences = 1;      ///< likewise: of the batch
  bool foreground = false;
  double seconds = 0;
};

/// Called on the thread that called generate(), between steps.
using ProgressObserver = std::function<void(const Progress&)>;

/// One request's wishes.
struct GenerationConfig {
  /// Tokens to generate at most; the last rung of the ladder ends generation too.
  std::int64_t max_new_tokens = std::numeric_limits<std::int64_t>::max();
  /// Go on past end-of-sequence tokens.
  bool ignore_eos = false;
  /// Generation ends when the text contains one of these; the string itself is not part of the
  /// text.
  std::vector<std::string> stop_strings;

  /// Greedy when false.
  bool do_sample = false;
  float temperature = 1.0F;         ///< above 0
  std::size_t top_k = 0;            ///< 0: no limit
  float top_p = 1.0F;               ///< in (0, 1]
  float repetition_penalty = 1.0F;  ///< above 0; applies to greedy too
  std::uint64_t rng_seed = 0;

  /// Teacher forcing: the i-th generated token is this one whatever the logits say, and generation
  /// ends with the list. Empty: the model chooses.
  std::vector<std::int32_t> forced_token_ids;

  /// Keeps the sequence's cache for the next request, and uses what the one before kept: of the
  /// prompt only what is behind the longest common beginning is read. For conversations; of a batch
  /// nothing is kept. A request without it lets go of what is kept.
  bool keep_cache = false;

  LogitsObserver logits_observer;
  ProgressObserver progress_observer;
  /// Ends generation at the next token boundary, or while waiting for a compile.
  std::stop_token stop_token;
};

}  // namespace ahead
