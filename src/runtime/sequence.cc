// Rows in, rows bound, rows counted. May use: base, compile, kv, plan.
#include "runtime/sequence.h"

#include <algorithm>
#include <limits>

#include "ahead/error.h"

namespace ahead::runtime {

std::int64_t Sequence::prompt_left() const {
  const auto prompt = static_cast<std::int64_t>(prompt_.size());
  return live_ < prompt ? prompt - live_ : 0;
}

void Sequence::end(FinishReason reason) {
  if (ended_) return;
  ended_ = true;
  reason_ = reason;
  program.reset();
}

RowResult Sequence::result() const {
  return {.prompt = static_cast<std::int64_t>(prompt_.size()),
          .generated = generated,
          .rung = capacity_,
          .finish_reason = reason_};
}

plan::Sequence Sequence::plan(std::int64_t max_new_tokens) const {
  const auto prompt = static_cast<std::int64_t>(prompt_.size());
  // The first token comes from prefill, each further one takes a step that adds a row.
  const std::int64_t steps = max_new_tokens - 1;
  const std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  return {.live = live_,
          .prompt = prompt,
          .most = steps > no_limit - prompt ? no_limit : prompt + steps};
}

void Sequence::make_cache(KvPolicy policy, const kv::KvCache::Options& options,
                          kv::PageProvider& pages, std::string& fallback) {
  cache_ = kv::make_cache(policy, options, pages, &fallback);
  capacity_ = static_cast<std::int64_t>(cache_->capacity());
  (void)cache_->prefault({.capacity = cache_->capacity(),
                          .budget_bytes = cache_->layout().total_bytes(cache_->capacity())});
}

void Sequence::adopt(std::unique_ptr<kv::KvCache> cache, std::int64_t tokens) {
  cache_ = std::move(cache);
  cache_->trim(static_cast<std::size_t>(tokens));
  capacity_ = static_cast<std::int64_t>(cache_->capacity());
  live_ = tokens;
}

std::vector<compile::KeyValue> Sequence::layers() const {
  std::vector<compile::KeyValue> layers;
  for (std::size_t layer = 0; layer < cache_->layout().layers.size(); ++layer) {
    layers.push_back({cache_->k(layer), cache_->v(layer)});
  }
  return layers;
}

kv::Growth Sequence::grow(std::int64_t rows) {
  const kv::Growth growth = cache_->grow(static_cast<std::size_t>(rows));
  capacity_ = rows;
  return growth;
}

void Sequence::prefault(std::int64_t next_rung, std::int64_t steps) {
  // Early rather than late: a share this small is not seen in a step.
  constexpr std::size_t kShare = std::size_t{256} << 10U;
  const kv::Layout& layout = cache_->layout();
  const auto capacity = static_cast<std::size_t>(next_rung);
  const std::size_t bytes = layout.total_bytes(capacity) - layout.total_bytes(cache_->capacity());
  const std::size_t needed = bytes / static_cast<std::size_t>(std::max<std::int64_t>(steps, 1));
  (void)cache_->prefault({.capacity = capacity, .budget_bytes = std::max(needed, kShare)});
}

void Sequence::append(const compile::Program& program_of_step, std::int64_t row,
                      std::int64_t count) {
  new_rows_.resize(cache_->layout().layers.size());
  for (std::size_t layer = 0; layer < new_rows_.size(); ++layer) {
    const compile::KeyValue made = program_of_step.new_rows(static_cast<std::int64_t>(layer), row);
    new_rows_[layer] = {made.k.data, made.v.data};
  }
  cache_->append(new_rows_, static_cast<std::size_t>(count));
  live_ += count;
}

bool Sequence::opened_block() {
  if (!cache_) return false;
  const std::size_t blocks = cache_->layout().blocks(cache_->live_rows());
  const bool opened = blocks != blocks_;
  blocks_ = blocks;
  return opened;
}

std::int64_t Sequence::reserved_bytes() const {
  return cache_ ? static_cast<std::int64_t>(cache_->reserved_bytes()) : 0;
}

std::int64_t Sequence::live_bytes() const {
  if (!cache_) return 0;
  return static_cast<std::int64_t>(cache_->layout().kept_bytes(static_cast<std::size_t>(live_)));
}

std::int64_t Sequence::committed_bytes() const {
  if (!cache_) return 0;
  try {
    return static_cast<std::int64_t>(cache_->committed_bytes());
  } catch (const Error& error) {  // an instrument that fails ends no request
    if (error.kind() != ErrorKind::kIo) throw;
    return -1;
  }
}

}  // namespace ahead::runtime
