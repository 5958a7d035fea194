// One request, from prompts to last tokens: prefill chunk by chunk, decode step by step, and the
// switch from rung to rung. A request is a batch of sequences, most often of one. Executes what
// plan/ decides; sees the device only as compile/'s programs. May use: base, compile, kv, plan.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "ahead/axes.h"
#include "ahead/generation_config.h"
#include "ahead/run_result.h"
#include "base/clock.h"
#include "compile/program_store.h"
#include "kv/kv_cache.h"
#include "plan/schedule.h"
#include "runtime/prospects.h"
#include "runtime/recorder.h"

namespace ahead::runtime {

/// What the caller does with tokens and logits. Called on the decode thread.
struct Callbacks {
  /// Chooses the next token of the sequence that the logits name.
  std::function<std::int32_t(const StepLogits&)> choose;
  /// Takes a token of sequence `row`; a reason ends the sequence.
  std::function<std::optional<FinishReason>(std::int64_t row, std::int32_t token)> accept;
  /// May be empty.
  ProgressObserver progress;
};

/// A sequence's cache between requests, and the tokens whose rows it holds.
struct KeptCache {
  std::unique_ptr<kv::KvCache> cache;  ///< null: nothing is kept
  std::vector<std::int32_t> tokens;
};

/// Tokens at the beginning of `prompt` that need not be read again with `kept`: the longest common
/// beginning, but for the prompt's last token, whose logits are wanted; 0 where the cache cannot go
/// back to there.
[[nodiscard]] std::int64_t reusable_tokens(const KeptCache& kept,
                                           const std::vector<std::int32_t>& prompt);

/// The rungs of `ladder` that a request with `kept` goes over: a cache that is used does not
/// shrink.
[[nodiscard]] std::vector<std::int64_t> ladder_behind(const KeptCache& kept,
                                                      const std::vector<std::int32_t>& prompt,
                                                      std::vector<std::int64_t> ladder);

/// One request's size.
struct Job {
  /// At least one; each at least one token, at most the last rung.
  std::vector<std::vector<std::int32_t>> prompts;
  std::int64_t max_new_tokens = 0;  ///< of each sequence; at least one
  std::stop_token stop;
  /// Of a request of one sequence: used as far as reusable_tokens() says, and filled when the
  /// request ends; empty after an error. The ladder is then that of ladder_behind().
  KeptCache* kept = nullptr;
};

/// Runs one request. Decode thread only; make one per request.
class Session {
 public:
  struct Options {
    Axes axes;
    std::int64_t prefill_chunk = 128;         ///< of fixed schedules
    std::optional<std::int64_t> first_chunk;  ///< of schedule planned: the prompt begins with it
    Prospects::Options prospects;             ///< of schedule planned
    std::size_t resident_rungs = 2;           ///< of plan::Residency
    kv::Layout layout;
  };
  struct Dependencies {
    compile::ProgramStore& programs;
    kv::PageProvider& pages;
    const Clock& clock;
    /// What compiles and steps took: read, and added to. Null: this request's own, empty.
    plan::CostModel* costs = nullptr;
  };
  Session(Options options, Dependencies dependencies);

  /// Fills `result` as far as the run got; `result.rows` has an entry a sequence. Throws Error
  /// before the first token; afterwards a failure ends the request and stands in `result.error`.
  void run(const Job& job, const Callbacks& callbacks, RunResult& result);

 private:
  class Run;
  const Options options_;
  const Dependencies dependencies_;
};

}  // namespace ahead::runtime
