// A model's graph as the tasks that a compiler for a small fast memory schedules. Plain data.
// May use: std.
#pragma once

#include <cstddef>
#include <vector>

namespace ahead::bench {

/// One task: a tile of an operation, or the copy of a tile's weights into the fast memory.
struct Task {
  bool copies = false;    ///< it brings weights; otherwise it computes
  std::size_t bytes = 0;  ///< what it leaves in the fast memory until its consumers have run
  std::vector<std::size_t> dependencies;  ///< tasks before it, by their numbers
};

using TaskGraph = std::vector<Task>;

}  // namespace ahead::bench
