// What samples come to: pure functions. May use: std, Boost.Math.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ahead::lab {

/// The middle value, or the mean of the two in the middle. `values` must not be empty.
[[nodiscard]] double median(std::vector<double> values);

[[nodiscard]] double mean(std::span<const double> values);

/// From where to where repeated runs went. `values` must not be empty.
struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
};
[[nodiscard]] Spread spread(std::vector<double> values);

/// From where to where a mean lies in 95 of 100 cases.
struct Interval {
  double low = 0;
  double high = 0;
};

/// What an arm b differs by from an arm a that ran beside it in the same blocks.
struct PairedEffect {
  std::size_t pairs = 0;
  double mean_a = 0;
  double mean_b = 0;
  double difference = 0;  ///< mean of b - a
  double percent = 0;     ///< of mean_a; NaN where that is 0
  /// Of the difference, by Student's t with pairs - 1 degrees of freedom; none of a single pair.
  std::optional<Interval> interval;
  /// How often, over all 2^pairs choices of signs, the differences' mean is as far from 0 as it is:
  /// exact and two-sided. None above 20 pairs.
  std::optional<double> sign_flip_p;
  /// The least that sign_flip_p can be with so many pairs: 2^(1 - pairs).
  double least_p = 1;

  /// Whether 0 lies outside of the interval.
  [[nodiscard]] bool apart() const { return interval && (interval->low > 0 || interval->high < 0); }
};

/// `a` and `b` hold the values of the same blocks in the same order, at least one.
struct Pairs {
  std::span<const double> a;
  std::span<const double> b;
};
[[nodiscard]] PairedEffect paired_effect(const Pairs& pairs);

/// A value that holds from a time on.
struct Held {
  double since_s = 0;
  double value = 0;
};
/// The average over time of what was held until `end_s`; `held` is in order and not empty.
[[nodiscard]] double time_weighted(std::span<const Held> held, double end_s);

}  // namespace ahead::lab
