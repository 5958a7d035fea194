// The kernel's books as they are found in the wild, written into a folder. May use: base.
#include "base/cpu_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/affinity.h"

namespace ahead {
namespace {

namespace fs = std::filesystem;

class CpuLimitsTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] CpuBooks books() const {
    return {.groups_of_process = folder_ / "cgroup",
            .mounts = folder_ / "mountinfo",
            .cpus = folder_ / "cpu"};
  }
  [[nodiscard]] std::string in(const char* name) const { return (folder_ / name).string(); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("ahead_cpu_limits_test." + std::to_string(::getpid()));
};

TEST_F(CpuLimitsTest, NothingToReadIsNoLimit) {
  EXPECT_EQ(read_cpu_quota(books()), std::nullopt);
  EXPECT_EQ(read_physical_core(3, books()), 3);
}

TEST_F(CpuLimitsTest, Version2TakesTheNarrowestGroupOnTheWay) {
  write("cgroup", "0::/box/job\n");
  write("mountinfo", "30 20 0:26 / " + in("v2") + " rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  write("v2/box/cpu.max", "150000 100000\n");
  write("v2/box/job/cpu.max", "max 100000\n");
  EXPECT_EQ(read_cpu_quota(books()), 1.5);
  write("v2/box/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(read_cpu_quota(books()), 0.5);
}

TEST_F(CpuLimitsTest, Version1HasItsControllerInALineOfItsOwn) {
  write("cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/abc\n0::/\n");
  // The container sees its own group as the mount's root.
  write("mountinfo", "40 30 0:30 /docker/abc " + in("v1") + " ro - cgroup cgroup rw,cpu,cpuacct\n" +
                         "41 30 0:31 / " + in("m") + " ro - cgroup cgroup rw,memory\n");
  write("v1/cpu.cfs_quota_us", "200000\n");
  write("v1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cpu_quota(books()), 2.0);
  write("v1/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(read_cpu_quota(books()), std::nullopt);
}

TEST_F(CpuLimitsTest, AGroupOutsideTheMountIsTheMountsOwn) {
  write("cgroup", "0::/../sibling\n");
  write("mountinfo", "30 20 0:26 /here " + in("v2") + " rw - cgroup2 cgroup2 rw\n");
  write("v2/cpu.max", "100000 100000\n");
  EXPECT_EQ(read_cpu_quota(books()), 1.0);
}

TEST_F(CpuLimitsTest, BooksThatMakeNoSenseLimitNothing) {
  write("cgroup", "nonsense\n0:/:\n::::\n0::/x\n");
  write("mountinfo",
        "nonsense - \n30 - cgroup2\n30 20 0:26 / " + in("v2") + " rw - cgroup2 a rw\n");
  for (const char* text : {"", "x y\n", "0 0\n", "-5 100\n", "100 -5\n", "1e999 1\n"}) {
    write("v2/x/cpu.max", text);
    EXPECT_EQ(read_cpu_quota(books()), std::nullopt) << text;
  }
}

TEST_F(CpuLimitsTest, ThreadsOfOneCoreAreKnownByTheLowest) {
  write("cpu/cpu5/topology/thread_siblings_list", "1,5\n");
  write("cpu/cpu3/topology/thread_siblings_list", "2-3\n");
  write("cpu/cpu7/topology/thread_siblings_list", "9\n");  // above itself: not believed
  EXPECT_EQ(read_physical_core(5, books()), 1);
  EXPECT_EQ(read_physical_core(3, books()), 2);
  EXPECT_EQ(read_physical_core(7, books()), 7);
}

TEST(CpuLimits, CoresAreThoseTheThreadMayUse) {
  const CpuLimits limits = cpu_limits();
  std::vector<int> numbers;
  for (const CpuCore& core : limits.cores) numbers.push_back(core.number);
  EXPECT_EQ(numbers, allowed_cores());
}

}  // namespace
}  // namespace ahead
