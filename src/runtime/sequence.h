// One sequence of a request: its prompt, its cache, and where it is. May use: base, compile, kv,
// plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ahead/run_result.h"
#include "compile/program.h"
#include "kv/kv_cache.h"
#include "plan/schedule.h"

namespace ahead::runtime {

/// Decode thread only.
class Sequence {
 public:
  /// `prompt` must outlive it.
  Sequence(std::int64_t number, const std::vector<std::int32_t>& prompt)
      : number_(number), prompt_(prompt) {}

  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] const std::vector<std::int32_t>& prompt() const { return prompt_; }
  [[nodiscard]] std::int64_t live() const { return live_; }
  [[nodiscard]] std::int64_t prompt_left() const;
  /// Rows the cache has room for; what it had when it was dropped.
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }

  /// Not at its end.
  [[nodiscard]] bool runs() const { return !ended_; }
  /// Only the first end counts.
  void end(FinishReason reason);
  [[nodiscard]] RowResult result() const;

  /// What the planner wants to know, when the sequence may generate `max_new_tokens`.
  [[nodiscard]] plan::Sequence plan(std::int64_t max_new_tokens) const;

  /// Throws Error(kOutOfMemory). `fallback` as of kv::make_cache.
  void make_cache(KvPolicy policy, const kv::KvCache::Options& options, kv::PageProvider& pages,
                  std::string& fallback);
  /// Goes on with a cache that holds the first `tokens` of the prompt, all but one at most.
  void adopt(std::unique_ptr<kv::KvCache> cache, std::int64_t tokens);
  /// The cache, for a later request; the sequence has none then.
  [[nodiscard]] std::unique_ptr<kv::KvCache> take_cache() { return std::move(cache_); }
  [[nodiscard]] kv::KvCache& cache() const { return *cache_; }
  /// Gives the memory back.
  void drop_cache() { cache_.reset(); }
  /// K and V of every layer, to be bound.
  [[nodiscard]] std::vector<compile::KeyValue> layers() const;
  /// Grows the cache to `rows`.
  kv::Growth grow(std::int64_t rows);
  /// Makes a share of the next rung's rows ready to be read, so that all are when the cache is
  /// full, `steps` steps from now.
  void prefault(std::int64_t next_rung, std::int64_t steps);
  /// Stores the first `count` new rows that `program` made for its sequence `row`.
  void append(const compile::Program& program, std::int64_t row, std::int64_t count);

  /// Whether live rows reached a further block since the last call.
  [[nodiscard]] bool opened_block();
  [[nodiscard]] std::int64_t reserved_bytes() const;
  /// Of rows that hold tokens.
  [[nodiscard]] std::int64_t live_bytes() const;
  /// Negative where the kernel gives no account.
  [[nodiscard]] std::int64_t committed_bytes() const;

  std::shared_ptr<compile::Program> program;  ///< that decodes it, its cache bound
  std::int32_t next_token = 0;                ///< chosen, and not in the cache yet
  std::int64_t generated = 0;                 ///< tokens given out
  std::vector<std::int32_t> fed;              ///< tokens behind the prompt whose rows are live

 private:
  std::int64_t number_;
  const std::vector<std::int32_t>& prompt_;
  std::unique_ptr<kv::KvCache> cache_;
  std::vector<kv::NewRows> new_rows_;
  std::int64_t live_ = 0;
  std::int64_t capacity_ = 0;
  std::size_t blocks_ = 0;
  bool ended_ = false;
  FinishReason reason_ = FinishReason::kStop;
};

}  // namespace ahead::runtime
