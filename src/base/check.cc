// Says what was broken, and stops. May use: std.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ahead {

void check_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "ahead: broken invariant: %s (%s) at %s:%d\n", message, condition, file,
               line);
  std::abort();
}

}  // namespace ahead
