// What a compile or a step will probably take: a value with its spread, and how samples become one.
// Pure. May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ahead::plan {

/// Where a number comes from, most trusted first.
enum class Source {
  kMeasured,  ///< the very thing, on this device
  kScaled,    ///< the same work in another shape
  kGuess,     ///< from the graph's size alone
};
[[nodiscard]] std::string_view to_string(Source source);

/// Seconds.
struct Estimate {
  double typical_s = 0;
  double late_s = 0;  ///< seldom exceeded; at least typical_s
  Source source = Source::kGuess;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// The median of positive samples, and as `late_s` the median and thrice the median distance from
/// it, at least a quarter more: one outlier moves neither. Of less than three samples the largest
/// counts as typical of what may come. `samples` is not empty.
[[nodiscard]] Estimate estimate_from(std::span<const double> samples_s);

/// The same work at `factor` times the size: wider, as the rule is rough.
[[nodiscard]] Estimate scaled(const Estimate& estimate, double factor);

/// How large a graph is.
struct GraphSize {
  std::int64_t parts = 1;  ///< that are compiled apart
  std::int64_t operations = 0;
  std::int64_t weight_bytes = 0;
};

/// A first guess where nothing was measured: per part, operation and byte of weights, four times
/// that at the latest.
[[nodiscard]] Estimate guess_compile(const GraphSize& size);

/// A first guess of a step over `tokens` tokens with `weight_bytes` of weights and `cache_bytes` of
/// cache to read: bytes over a modest bandwidth, more tokens an eighth of that each.
struct StepSize {
  std::int64_t weight_bytes = 0;
  std::int64_t cache_bytes = 0;
  std::int64_t tokens = 1;
};
[[nodiscard]] Estimate guess_step(const StepSize& size);

}  // namespace ahead::plan
