// What one sequence must come to, step by step, computed without a cache, a program or a schedule.
// May use: compile's fake model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ahead/run_result.h"
#include "compile/fake_model.h"

namespace ahead::sim {

/// Follows the request; the invariants hold it against what the runtime does.
class SequenceModel {
 public:
  struct Limits {
    std::int64_t last_rung = 0;
    std::int64_t max_new_tokens = 0;
    std::int64_t ends_at = 0;  ///< the caller ends it with this token; 0: never
    std::int64_t window = 0;   ///< of the model's last layer
  };
  SequenceModel(std::vector<std::int32_t> prompt, Limits limits)
      : history_(std::move(prompt)),
        prompt_(static_cast<std::int64_t>(history_.size())),
        limits_(limits),
        model_(limits.window) {}

  [[nodiscard]] std::int64_t live() const { return live_; }
  [[nodiscard]] std::int64_t prompt() const { return prompt_; }
  [[nodiscard]] std::int64_t prompt_left() const { return live_ < prompt_ ? prompt_ - live_ : 0; }
  [[nodiscard]] std::int64_t generated() const {
    return static_cast<std::int64_t>(history_.size()) - prompt_;
  }
  /// The token at a position: of the prompt, or generated.
  [[nodiscard]] std::int32_t token(std::int64_t position) const {
    return history_.at(static_cast<std::size_t>(position));
  }

  /// `count` more rows are in the cache.
  void append(std::int64_t count) {
    for (; count > 0; --count) logits_ = model_.feed(token(live_++));
  }
  /// After the last row.
  [[nodiscard]] const std::vector<float>& logits() const { return logits_; }
  /// Takes the token that comes next.
  void accept(std::int32_t token) {
    history_.push_back(token);
    if (generated() == limits_.ends_at) {
      end_ = FinishReason::kStop;
    } else if (generated() == limits_.max_new_tokens) {
      end_ = FinishReason::kMaxTokens;
    } else if (live_ == limits_.last_rung) {
      end_ = FinishReason::kLength;
    }
  }
  /// Where it ends by itself; none: it goes on.
  [[nodiscard]] std::optional<FinishReason> end() const { return end_; }
  [[nodiscard]] bool runs() const { return !end_; }
  /// Tokens that it makes if nothing goes wrong.
  [[nodiscard]] std::int64_t expected() const {
    std::int64_t tokens = std::min(limits_.max_new_tokens, limits_.last_rung - prompt_ + 1);
    return limits_.ends_at > 0 ? std::min(tokens, limits_.ends_at) : tokens;
  }

  std::int64_t capacity = 0;  ///< the largest rung it was on

 private:
  std::vector<std::int32_t> history_;
  std::int64_t prompt_;
  Limits limits_;
  std::int64_t live_ = 0;
  compile::FakeModel model_;
  std::vector<float> logits_;
  std::optional<FinishReason> end_;
};

}  // namespace ahead::sim
