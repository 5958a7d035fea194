// Control groups of both versions, by the paths that their own mounts give them. Formats: the
// kernel's Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cgroups.rst, scheduler/sched-bwc.rst
// and proc(5). May use: std, base.
#include "base/cpu_limits.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "base/affinity.h"

namespace ahead {
namespace {

namespace fs = std::filesystem;

std::optional<double> narrower(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// "max 100000" or "150000 100000": the share of a core, and none for no limit.
std::optional<double> quota_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_v1(const fs::path& folder) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us");
  std::ifstream period_file(folder / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return quota / period;
}

/// A hierarchy of control groups as it is mounted here.
struct Mount {
  fs::path root;   ///< the group at the mount point, by its path in the hierarchy
  fs::path point;  ///< where that group's files are
};

/// Whether a list of words between commas has `word`.
bool lists(std::string_view list, std::string_view word) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

/// The mount of version 2, or of version 1's controller `cpu`.
std::optional<Mount> mount_of(const fs::path& mounts, bool version2) {
  std::ifstream file(mounts);
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream behind(line.substr(dash + 3));
    std::string skip, root, point, type, source, options;
    before >> skip >> skip >> skip >> root >> point;
    behind >> type >> source >> options;
    if (version2 ? type == "cgroup2" : type == "cgroup" && lists(options, "cpu")) {
      return Mount{.root = root, .point = point};
    }
  }
  return std::nullopt;
}

/// The group's own limit and those of the groups around it, as far up as the mount shows them.
template <typename Quota>
std::optional<double> narrowest(const Mount& mount, const fs::path& group, const Quota& quota) {
  // In a container the group's path may be the host's, while the mount begins at it.
  fs::path below = group.lexically_relative(mount.root);
  if (below.empty() || *below.begin() == "..") below = ".";
  std::optional<double> limit = quota(mount.point);
  fs::path folder = mount.point;
  for (const fs::path& step : below) {
    if (step == ".") continue;
    folder /= step;
    limit = narrower(limit, quota(folder));
  }
  return limit;
}

}  // namespace

std::optional<double> read_cpu_quota(const CpuBooks& books) {
  std::optional<double> limit;
  std::ifstream groups(books.groups_of_process);
  // "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const bool version2 = controllers.empty();
    if (!version2 && !lists(controllers, "cpu")) continue;
    const std::optional<Mount> mount = mount_of(books.mounts, version2);
    if (!mount) continue;
    limit = narrower(
        limit, version2 ? narrowest(*mount, path, quota_v2) : narrowest(*mount, path, quota_v1));
  }
  return limit;
}

int read_physical_core(int core, const CpuBooks& books) {
  // "0,4" or "0-1": the first number is the lowest.
  std::ifstream file(books.cpus / ("cpu" + std::to_string(core)) / "topology/thread_siblings_list");
  int first = core;
  return file >> first && first >= 0 && first <= core ? first : core;
}

CpuLimits cpu_limits() {
  CpuLimits limits;
  for (const int core : allowed_cores()) {
    limits.cores.push_back({.number = core, .physical = read_physical_core(core)});
  }
  limits.quota_cores = read_cpu_quota();
  limits.wide_vectors = __builtin_cpu_supports("avx512f") != 0;
  return limits;
}

}  // namespace ahead
