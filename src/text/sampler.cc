// Greedy and random choice of a token. May use: std, ahead/error, base.
#include "text/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "ahead/error.h"
#include "base/check.h"

namespace ahead::text {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorKind::kInvalidArgument, what);
}

[[noreturn]] void broken_logits(std::int64_t step, const std::string& what) {
  throw Error(
      ErrorKind::kDevice,
      "the logits of generated token " + std::to_string(step) + " are broken: " + what +
          "; a weight in the model's file may be broken (compare the file's checksum with "
          "that of its source, or fetch it again), or else the device computed garbage (try "
          "another one, or --kv-type f32)");
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {
  require(options.temperature > 0 && std::isfinite(options.temperature),
          "temperature is " + std::to_string(options.temperature) +
              "; it must be above 0 (for greedy choice turn sampling off)");
  require(options.top_p > 0 && options.top_p <= 1,
          "top_p is " + std::to_string(options.top_p) + "; it must be above 0 and at most 1");
  require(options.repetition_penalty > 0 && std::isfinite(options.repetition_penalty),
          "repetition_penalty is " + std::to_string(options.repetition_penalty) +
              "; it must be above 0, and 1 means none");
}

void Sampler::see(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids) {
    AHEAD_CHECK(id >= 0, "a token id is negative");
    const auto index = static_cast<std::size_t>(id);
    if (index >= is_seen_.size()) is_seen_.resize(index + 1, false);
    if (is_seen_[index]) continue;
    is_seen_[index] = true;
    seen_.push_back(id);
  }
}

void Sampler::check(std::span<const float> logits) {
  if (logits.empty()) broken_logits(steps_, "there are none");
  (void)checked_argmax(logits);
  ++steps_;
}

std::int32_t Sampler::next(std::span<const float> logits) {
  if (logits.empty()) broken_logits(steps_, "there are none");
  // Checked before the penalty: an infinite product would hide what the device returned.
  std::int32_t chosen = checked_argmax(logits);
  const std::span<const float> used = penalised(logits);
  if (used.data() != logits.data()) chosen = checked_argmax(used);
  if (options_.do_sample) chosen = sample(used, used[static_cast<std::size_t>(chosen)]);
  const std::array<std::int32_t, 1> one = {chosen};
  see(one);
  ++steps_;
  return chosen;
}

std::int32_t Sampler::checked_argmax(std::span<const float> logits) const {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity()) {
      broken_logits(steps_, "number " + std::to_string(i) + " of " + std::to_string(logits.size()) +
                                " is " + (std::isnan(logits[i]) ? "NaN" : "+infinity"));
    }
    if (logits[i] > logits[best]) best = i;
  }
  if (std::isinf(logits[best])) broken_logits(steps_, "all are -infinity");
  return static_cast<std::int32_t>(best);
}

std::span<const float> Sampler::penalised(std::span<const float> logits) {
  if (options_.repetition_penalty == 1.0F || seen_.empty()) return logits;
  penalised_.assign(logits.begin(), logits.end());
  for (const std::int32_t id : seen_) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= penalised_.size()) continue;
    float& logit = penalised_[index];
    if (std::isinf(logit)) continue;
    // The paper divides; a negative logit has to be multiplied to become less likely.
    logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
    // The device's value was sound, so an extreme penalty must not make it look broken.
    constexpr float kMost = std::numeric_limits<float>::max();
    logit = std::clamp(logit, -kMost, kMost);
  }
  return penalised_;
}

bool Sampler::better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void Sampler::collect(std::span<const float> logits) {
  candidates_.clear();
  const bool limited = options_.top_k > 0 && options_.top_k < logits.size();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const Candidate candidate = {logits[i], static_cast<std::int32_t>(i), 0};
    if (!limited) {
      candidates_.push_back(candidate);
      continue;
    }
    // A heap of the best so far with the worst of them on top.
    if (candidates_.size() == options_.top_k) {
      if (!better(candidate, candidates_.front())) continue;
      std::pop_heap(candidates_.begin(), candidates_.end(), better);
      candidates_.pop_back();
    }
    candidates_.push_back(candidate);
    std::push_heap(candidates_.begin(), candidates_.end(), better);
  }
  if (limited) std::sort_heap(candidates_.begin(), candidates_.end(), better);
}

double Sampler::cut_to_top_p(double total) {
  const auto worse = [](const Candidate& a, const Candidate& b) { return better(b, a); };
  // Best first out of a heap: only as many are ordered as are kept.
  std::make_heap(candidates_.begin(), candidates_.end(), worse);
  double kept = 0;
  auto heap_end = candidates_.end();
  while (heap_end != candidates_.begin() && kept < options_.top_p * total) {
    std::pop_heap(candidates_.begin(), heap_end, worse);
    --heap_end;
    kept += heap_end->weight;
  }
  candidates_.erase(candidates_.begin(), heap_end);
  std::reverse(candidates_.begin(), candidates_.end());
  return kept;
}

std::int32_t Sampler::sample(std::span<const float> logits, float largest) {
  collect(logits);
  double total = 0;
  for (Candidate& candidate : candidates_) {
    candidate.weight = std::exp((static_cast<double>(candidate.logit) - largest) /
                                static_cast<double>(options_.temperature));
    total += candidate.weight;
  }
  if (options_.top_p < 1.0F) total = cut_to_top_p(total);

  const double target = uniform() * total;
  double passed = 0;
  // The sum runs in the order that made `total`, so it ends above the target.
  for (const Candidate& candidate : candidates_) {
    passed += candidate.weight;
    if (passed > target) return candidate.id;
  }
  return candidates_.front().id;
}

double Sampler::uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

}  // namespace ahead::text
