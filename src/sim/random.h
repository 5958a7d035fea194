// Numbers from a seed, the same on every machine and library. May use: std.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

namespace ahead::sim {

/// The engine is specified bit for bit by the standard; its distributions are not, so ranges are
/// made here.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// From `low` to `high`, both included.
  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(engine_() % span);
  }
  /// From `low` to `high`, every magnitude as likely as the next; `low` is above 0.
  [[nodiscard]] std::int64_t magnitude(std::int64_t low, std::int64_t high) {
    const std::int64_t top = low << between(0, doublings(low, high));
    return between(low, std::min(top, high));
  }
  [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <typename Range>
  [[nodiscard]] auto pick(const Range& values) {
    return values[static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(std::size(values)) - 1))];
  }

 private:
  static std::int64_t doublings(std::int64_t low, std::int64_t high) {
    std::int64_t count = 0;
    while (low < high) {
      low *= 2;
      ++count;
    }
    return count;
  }

  std::mt19937_64 engine_;
};

}  // namespace ahead::sim
