// How much of the machine's processor this process may use, as the kernel tells it: the whole
// contract with its scheduler's books, beside base/affinity.h. May use: std.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace ahead {

/// One logical core.
struct CpuCore {
  int number = 0;
  /// Cores of one physical core, whose threads share its arithmetic, have the same: the lowest
  /// number among them.
  int physical = 0;

  friend bool operator==(const CpuCore&, const CpuCore&) = default;
};

struct CpuLimits {
  std::vector<CpuCore> cores;  ///< the calling thread may run on these, ascending
  /// Seconds of processor a second that the control groups of this process allow, the narrowest of
  /// them; none where nothing limits it or nobody tells.
  std::optional<double> quota_cores;
  /// The processor computes over 512 bits at once (AVX-512).
  bool wide_vectors = false;
};

/// Never throws: what cannot be read limits nothing.
[[nodiscard]] CpuLimits cpu_limits();

/// Where the kernel's books are; others for tests.
struct CpuBooks {
  std::filesystem::path groups_of_process = "/proc/self/cgroup";
  std::filesystem::path mounts = "/proc/self/mountinfo";
  std::filesystem::path cpus = "/sys/devices/system/cpu";
};
[[nodiscard]] std::optional<double> read_cpu_quota(const CpuBooks& books = {});
/// The lowest of the cores that share a physical core with `core`; itself where nobody tells.
[[nodiscard]] int read_physical_core(int core, const CpuBooks& books = {});

}  // namespace ahead
