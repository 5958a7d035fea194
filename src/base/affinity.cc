// sched_getaffinity and sched_setaffinity. May use: std, the kernel.
#include "base/affinity.h"

#include <sched.h>

#include <algorithm>
#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

std::string joined(const std::vector<int>& cores) {
  std::string list;
  for (const int core : cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  return list;
}

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
  const std::vector<int> before = allowed_cores();
  std::vector<int> missing = cores;
  if (try_pin(cores)) {
    // The kernel takes what it can of a list and says nothing about the rest.
    const std::vector<int> taken = allowed_cores();
    const auto is_taken = [&](int core) {
      return std::binary_search(taken.begin(), taken.end(), core);
    };
    missing.erase(std::remove_if(missing.begin(), missing.end(), is_taken), missing.end());
    if (missing.empty()) return;
    try_pin(before);
  }
  const std::string which = (missing.size() == 1 ? "core " : "cores ") + joined(missing);
  throw Error(ErrorKind::kInvalidArgument,
              which + " cannot be used by this process; the cores it runs on are " +
                  joined(before) + ", name some of them");
}

ScopedAffinity::ScopedAffinity(const std::vector<int>& cores) : previous_(allowed_cores()) {
  pin_current_thread(cores);
}

ScopedAffinity::~ScopedAffinity() {
  if (!previous_.empty()) try_pin(previous_);
}

}  // namespace ahead
