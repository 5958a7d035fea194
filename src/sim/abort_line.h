// Says which seed runs when the runtime aborts. May use: std.
#pragma once

#include <cstdint>

namespace ahead::sim {

/// Names the seed on standard error if the program aborts while it lives. One at a time.
class AbortLine {
 public:
  explicit AbortLine(std::uint64_t seed);
  ~AbortLine();
  AbortLine(const AbortLine&) = delete;
  AbortLine& operator=(const AbortLine&) = delete;

 private:
  void (*before_)(int) = nullptr;
};

}  // namespace ahead::sim
