// sched_getaffinity and sched_setaffinity. May use: std, the kernel.
#include "base/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>
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

/// A set of cores that grows: kernels of large machines know more than cpu_set_t holds.
class CoreSet {
 public:
  explicit CoreSet(int cores)
      : set_(CPU_ALLOC(static_cast<std::size_t>(cores))),
        bytes_(CPU_ALLOC_SIZE(static_cast<std::size_t>(cores))) {
    if (set_ == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes_, set_);
  }
  ~CoreSet() { CPU_FREE(set_); }
  CoreSet(const CoreSet&) = delete;
  CoreSet& operator=(const CoreSet&) = delete;

  void add(int core) { CPU_SET_S(static_cast<std::size_t>(core), bytes_, set_); }
  [[nodiscard]] bool has(int core) const {
    return CPU_ISSET_S(static_cast<std::size_t>(core), bytes_, set_) != 0;
  }
  [[nodiscard]] cpu_set_t* data() const { return set_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  cpu_set_t* set_;
  std::size_t bytes_;
};

constexpr int kUsualCores = 1024;
constexpr int kMostCores = 1 << 16;

/// 0, or errno where the kernel refuses.
int try_pin(const std::vector<int>& cores) {
  int most = kUsualCores;
  for (const int core : cores) {
    if (core < kMostCores) most = std::max(most, core + 1);
  }
  CoreSet set(most);
  for (const int core : cores) {
    if (core >= 0 && core < kMostCores) set.add(core);
  }
  return sched_setaffinity(0, set.bytes(), set.data()) == 0 ? 0 : errno;
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
  std::vector<int> cores;
  for (int most = kUsualCores; most <= kMostCores; most *= 2) {
    const CoreSet set(most);
    if (sched_getaffinity(0, set.bytes(), set.data()) != 0) {
      if (errno == EINVAL) continue;  // the set is smaller than the kernel's
      return cores;
    }
    for (int core = 0; core < most; ++core) {
      if (set.has(core)) cores.push_back(core);
    }
    return cores;
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
    if (!before.empty()) try_pin(before);
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
