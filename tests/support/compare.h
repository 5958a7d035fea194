// Comparing logits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace ahead::test {

inline std::size_t top1(std::span<const float> values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

inline double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0;
  double norm_a = 0;
  double norm_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * b[i];
    norm_a += static_cast<double>(a[i]) * a[i];
    norm_b += static_cast<double>(b[i]) * b[i];
  }
  return product / std::sqrt(norm_a * norm_b);
}

}  // namespace ahead::test
