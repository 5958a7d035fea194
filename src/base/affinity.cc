// sched_getaffinity and sched_setaffinity. May use: std, the kernel.
#include "base/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "ahead/error.h"

namespace ahead {
namespace {

std::string joined(const std::vector<int>& cores) {
  std::string list;
  for (const int core : cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  return list;
}

/// 0, or errno where the kernel refuses.
int try_pin(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

/// What to do about cores that cannot be had: name others, or none where none can be named.
std::string remedy(int error, const std::vector<int>& before) {
  if (error == 0 || error == EINVAL) {
    return "; the cores it runs on are " + joined(before) + ", name some of them";
  }
  return " (" + std::generic_category().message(error) +
         "); leave the cores out, or let this process choose them (sched_setaffinity)";
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

bool pin_current_thread(const std::vector<int>& cores, Pinning pinning) {
  const std::vector<int> before = allowed_cores();
  std::vector<int> missing = cores;
  const int error = try_pin(cores);
  if (error == 0) {
    // The kernel takes what it can of a list and says nothing about the rest.
    const std::vector<int> taken = allowed_cores();
    const auto is_taken = [&](int core) {
      return std::binary_search(taken.begin(), taken.end(), core);
    };
    missing.erase(std::remove_if(missing.begin(), missing.end(), is_taken), missing.end());
    if (missing.empty()) return true;
    try_pin(before);
  }
  if (pinning == Pinning::kPreferred) return false;
  const std::string which = (missing.size() == 1 ? "core " : "cores ") + joined(missing);
  throw Error(ErrorKind::kInvalidArgument,
              which + " cannot be used by this process" + remedy(error, before));
}

ScopedAffinity::ScopedAffinity(const std::vector<int>& cores, Pinning pinning)
    : previous_(allowed_cores()), pinned_(pin_current_thread(cores, pinning)) {}

ScopedAffinity::~ScopedAffinity() {
  if (pinned_ && !previous_.empty()) try_pin(previous_);
}

}  // namespace ahead
