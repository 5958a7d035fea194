// Samples to an estimate, and what to say without any. May use: base.
#include "plan/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace ahead::plan {
namespace {

// A decoder of 30 layers, 65 operations a layer and 126 MB of weights takes a CPU compiler about
// two seconds in 31 parts on one core, and an attention of 5 operations without weights 0.04 to 0.1
// s.
constexpr double kCompilePartS = 0.02;
constexpr double kCompileOperationS = 0.7e-3;
constexpr double kCompileByteS = 2e-9;
constexpr double kReadBytesPerS = 4e9;
constexpr double kFurtherToken = 0.125;  // of the weights' time: they are read once for all
constexpr double kLateGuess = 4;

constexpr std::size_t kFewSamples = 3;
constexpr double kLateOfFew = 2;
constexpr double kLateAtLeast = 1.25;
constexpr double kLateDeviations = 3;
constexpr double kLateScaled = 1.5;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

Estimate guess_of(double typical_s) {
  return {.typical_s = typical_s, .late_s = kLateGuess * typical_s, .source = Source::kGuess};
}

}  // namespace

std::string_view to_string(Source source) {
  switch (source) {
    case Source::kMeasured:
      return "measured";
    case Source::kScaled:
      return "scaled";
    case Source::kGuess:
      return "guess";
  }
  return "";
}

Estimate estimate_from(std::span<const double> samples_s) {
  AHEAD_CHECK(!samples_s.empty(), "an estimate takes at least one sample");
  if (samples_s.size() < kFewSamples) {
    const double largest = *std::max_element(samples_s.begin(), samples_s.end());
    return {.typical_s = largest, .late_s = kLateOfFew * largest, .source = Source::kMeasured};
  }
  std::vector<double> values(samples_s.begin(), samples_s.end());
  const double median = median_of(values);
  for (double& value : values) value = std::abs(value - median);
  const double late =
      std::max(kLateAtLeast * median, median + kLateDeviations * median_of(std::move(values)));
  return {.typical_s = median, .late_s = late, .source = Source::kMeasured};
}

Estimate scaled(const Estimate& estimate, double factor) {
  AHEAD_CHECK(factor > 0, "work is scaled by a positive factor");
  return {.typical_s = estimate.typical_s * factor,
          .late_s = estimate.late_s * factor * kLateScaled,
          .source = std::max(estimate.source, Source::kScaled)};  // a guess stays one
}

Estimate guess_compile(const GraphSize& size) {
  return guess_of(kCompilePartS * static_cast<double>(size.parts) +
                  kCompileOperationS * static_cast<double>(size.operations) +
                  kCompileByteS * static_cast<double>(size.weight_bytes));
}

Estimate guess_step(const StepSize& size) {
  const double weights_s = static_cast<double>(size.weight_bytes) / kReadBytesPerS;
  const double cache_s = static_cast<double>(size.cache_bytes) / kReadBytesPerS;
  const auto further = static_cast<double>(std::max<std::int64_t>(size.tokens - 1, 0));
  return guess_of(weights_s + cache_s + further * kFurtherToken * weights_s);
}

}  // namespace ahead::plan
