// See williams.h. May use: base.
#include "lab/williams.h"

#include <algorithm>

#include "base/check.h"

namespace ahead::lab {

std::vector<std::vector<std::size_t>> williams_sequences(std::size_t arms) {
  AHEAD_CHECK(arms > 0, "a design of no arms");
  // 0, 1, n-1, 2, n-2, ...: the steps between neighbours, modulo n, are all different.
  std::vector<std::size_t> first{0};
  for (std::size_t low = 1, high = arms - 1; first.size() < arms;) {
    first.push_back(low++);
    if (first.size() < arms) first.push_back(high--);
  }
  std::vector<std::vector<std::size_t>> sequences;
  for (std::size_t shift = 0; shift < arms; ++shift) {
    std::vector<std::size_t> sequence;
    for (const std::size_t arm : first) sequence.push_back((arm + shift) % arms);
    sequences.push_back(sequence);
    if (arms % 2 == 1 && arms > 1) {
      std::reverse(sequence.begin(), sequence.end());
      sequences.push_back(std::move(sequence));
    }
  }
  return sequences;
}

}  // namespace ahead::lab
