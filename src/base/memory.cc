// getrusage. May use: std, the kernel.
#include "base/memory.h"

#include <sys/resource.h>

namespace ahead {

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace ahead
