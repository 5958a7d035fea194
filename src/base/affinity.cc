// sched_getaffinity and sched_setaffinity. May use: std, the kernel.
#include "base/affinity.h"

#include <sched.h>

#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

/// False when the kernel refuses.
bool try_pin(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void pin_current_thread(const std::vector<int>& cores) {
  if (try_pin(cores)) return;
  std::string list;
  for (const int core : cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  throw Error(ErrorKind::kInvalidArgument, "cores " + list +
                                               " cannot be used by this process; name cores that "
                                               "`nproc` and `taskset -p $$` show");
}

ScopedAffinity::ScopedAffinity(const std::vector<int>& cores) : previous_(allowed_cores()) {
  pin_current_thread(cores);
}

ScopedAffinity::~ScopedAffinity() {
  if (!previous_.empty()) try_pin(previous_);
}

}  // namespace ahead
