// From logits to a token. May use: std, ahead/error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace ahead::text {

/// How a token is chosen; the fields of GenerationConfig with the same names.
struct SamplerOptions {
  bool do_sample = false;           ///< greedy when false; the three below are then unused
  float temperature = 1.0F;         ///< above 0
  std::size_t top_k = 0;            ///< 0: no limit
  float top_p = 1.0F;               ///< in (0, 1]
  float repetition_penalty = 1.0F;  ///< above 0; 1: none; applies to greedy too
  std::uint64_t seed = 0;
};

/// Chooses one token a step. Greedy takes the largest logit, the lowest id among equals. Sampling
/// applies, in this order: repetition penalty, temperature, top-k, top-p over what top-k left.
/// Equal options, logits and history give equal tokens: no distribution of the standard library is
/// used. One thread at a time.
class Sampler {
 public:
  /// Throws Error(kInvalidArgument) naming the option that cannot be, greedy or not.
  explicit Sampler(const SamplerOptions& options);

  /// Counts `ids`, say a prompt's, among the tokens the repetition penalty applies to.
  void see(std::span<const std::int32_t> ids);

  /// Chooses a token and counts it as seen. Throws Error(kDevice) naming the position when a logit
  /// is NaN or +infinity, and when there is none or all are -infinity.
  [[nodiscard]] std::int32_t next(std::span<const float> logits);

  /// Checks the logits of a step as next() does, for a token that is chosen elsewhere.
  void check(std::span<const float> logits);

 private:
  struct Candidate {
    float logit;
    std::int32_t id;
    double weight;
  };
  static bool better(const Candidate& a, const Candidate& b);

  /// Index of the largest logit; checks all of them.
  [[nodiscard]] std::int32_t checked_argmax(std::span<const float> logits) const;
  /// `logits`, or a copy with the seen tokens made less likely.
  [[nodiscard]] std::span<const float> penalised(std::span<const float> logits);
  [[nodiscard]] std::int32_t sample(std::span<const float> logits, float largest);
  /// Fills candidates_ from all logits, or from the top_k best in falling order.
  void collect(std::span<const float> logits);
  /// Keeps the fewest best candidates whose weight reaches top_p of `total`; returns their weight.
  double cut_to_top_p(double total);
  /// In [0, 1).
  [[nodiscard]] double uniform();

  const SamplerOptions options_;
  std::mt19937_64 random_;
  std::int64_t steps_ = 0;
  std::vector<bool> is_seen_;
  std::vector<std::int32_t> seen_;
  // Kept between steps so that a step allocates nothing.
  std::vector<float> penalised_;
  std::vector<Candidate> candidates_;
};

}  // namespace ahead::text
