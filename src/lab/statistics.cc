// See statistics.h. May use: base, Boost.Math.
#include "lab/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace ahead::lab {
namespace {

constexpr std::size_t kMostExactPairs = 20;

double sign_flip(const std::vector<double>& differences) {
  const double sum = std::accumulate(differences.begin(), differences.end(), 0.0);
  double size = 0;
  for (const double difference : differences) size += std::abs(difference);
  // Sums that are equal on paper may differ in their last bits.
  const double least = std::abs(sum) - 1e-12 * size;
  std::uint64_t as_far = 0;
  const std::uint64_t choices = std::uint64_t{1} << differences.size();
  for (std::uint64_t signs = 0; signs < choices; ++signs) {
    double flipped = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      flipped += ((signs >> i) & 1U) != 0 ? -differences[i] : differences[i];
    }
    as_far += std::abs(flipped) >= least ? 1U : 0U;
  }
  return static_cast<double>(as_far) / static_cast<double>(choices);
}

Interval student(const std::vector<double>& differences, double centre) {
  const auto n = static_cast<double>(differences.size());
  double squares = 0;
  for (const double difference : differences) squares += std::pow(difference - centre, 2);
  const double error = std::sqrt(squares / (n - 1) / n);
  const boost::math::students_t distribution(n - 1);
  const double reach = boost::math::quantile(boost::math::complement(distribution, 0.025)) * error;
  return {centre - reach, centre + reach};
}

}  // namespace

double median(std::vector<double> values) {
  AHEAD_CHECK(!values.empty(), "the median of nothing");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean(std::span<const double> values) {
  AHEAD_CHECK(!values.empty(), "the mean of nothing");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Spread spread(std::vector<double> values) {
  const double middle = median(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, middle, *most};
}

PairedEffect paired_effect(const Pairs& pairs) {
  AHEAD_CHECK(pairs.a.size() == pairs.b.size() && !pairs.a.empty(), "pairs that are none");
  PairedEffect effect{.pairs = pairs.a.size(), .mean_a = mean(pairs.a), .mean_b = mean(pairs.b)};
  std::vector<double> differences;
  for (std::size_t i = 0; i < pairs.a.size(); ++i) differences.push_back(pairs.b[i] - pairs.a[i]);
  effect.difference = mean(differences);
  effect.percent = effect.mean_a == 0 ? std::numeric_limits<double>::quiet_NaN()
                                      : 100 * effect.difference / effect.mean_a;
  if (effect.pairs > 1) effect.interval = student(differences, effect.difference);
  if (effect.pairs <= kMostExactPairs) effect.sign_flip_p = sign_flip(differences);
  effect.least_p = std::ldexp(1.0, 1 - static_cast<int>(effect.pairs));
  return effect;
}

double time_weighted(std::span<const Held> held, double end_s) {
  AHEAD_CHECK(!held.empty(), "the average of nothing");
  double sum = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const double until = i + 1 < held.size() ? held[i + 1].since_s : end_s;
    AHEAD_CHECK(until >= held[i].since_s, "what is held goes back in time");
    sum += held[i].value * (until - held[i].since_s);
  }
  const double seconds = end_s - held.front().since_s;
  return seconds > 0 ? sum / seconds : held.back().value;
}

}  // namespace ahead::lab
