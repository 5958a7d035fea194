// See shortage_error.h. May use: std, the kernel.
#include "base/shortage_error.h"

#include <sys/mman.h>

#include <mutex>

#include "ahead/error.h"
#include "base/resources.h"

namespace ahead {

void throw_if_short(const std::exception& cause, const std::string& what) {
  if (const auto remedy = resource_remedy(cause)) {
    throw Error(ErrorKind::kOutOfMemory, what + ": " + *remedy);
  }
}

void throw_if_short(const std::exception& cause, const std::string& what, std::uint64_t bytes) {
  throw_if_short(cause, what);
  if (has_room_for(bytes)) return;
  throw Error(ErrorKind::kOutOfMemory, what + ": " + remedy_of(Shortage::kMemory));
}

bool has_room_for(std::uint64_t bytes) {
  if (bytes == 0) return true;
  void* const room =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

void prepare_exceptions() {
  static const bool done = [] {
    std::once_flag once;
    try {
      // Where this is made of the C library's own call, the exception passes through it.
      std::call_once(once, [] { throw 0; });
    } catch (int) {
      return true;
    }
    return false;
  }();
  (void)done;
}

}  // namespace ahead
