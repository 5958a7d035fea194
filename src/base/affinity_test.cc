// Cores of the calling thread: taken for a scope and given back. May use: std, GoogleTest.
#include "base/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ahead/error.h"

namespace ahead {
namespace {

/// Two tests need a thread whose cores can shrink.
bool has_two_cores() { return allowed_cores().size() >= 2; }

TEST(AffinityTest, AllowedCoresAreSomeInAscendingOrder) {
  const std::vector<int> cores = allowed_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_GE(cores.front(), 0);
  EXPECT_EQ(std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()), cores.end());
}

TEST(AffinityTest, PinHoldsForTheCallingThreadOnly) {
  const std::vector<int> before = allowed_cores();
  const std::vector<int> last = {before.back()};
  std::vector<int> seen;
  std::jthread([&] {
    pin_current_thread(last);
    seen = allowed_cores();
  }).join();
  EXPECT_EQ(seen, last);
  EXPECT_EQ(allowed_cores(), before);
}

TEST(AffinityTest, ScopedAffinityRestores) {
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be restricted";
  const std::vector<int> before = allowed_cores();
  for (const int core : before) {
    {
      const ScopedAffinity pinned({core});
      EXPECT_EQ(allowed_cores(), std::vector{core});
    }
    EXPECT_EQ(allowed_cores(), before);
  }
}

TEST(AffinityTest, ScopedAffinityRestoresTheScopeAroundIt) {
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be restricted";
  const std::vector<int> before = allowed_cores();
  const ScopedAffinity outer({before.front()});
  {
    const ScopedAffinity inner({before.back()});
    EXPECT_EQ(allowed_cores(), std::vector{before.back()});
  }
  EXPECT_EQ(allowed_cores(), std::vector{before.front()});
}

TEST(AffinityTest, ScopedAffinityRestoresWhenTheScopeThrows) {
  const std::vector<int> before = allowed_cores();
  try {
    const ScopedAffinity pinned({before.front()});
    throw std::runtime_error("out of the scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(allowed_cores(), before);
}

TEST(AffinityTest, RefusedCoresAreNamedAndChangeNothing) {
  const std::vector<int> before = allowed_cores();
  for (const auto& [cores, named] : {std::pair{std::vector{1022, 1023}, "1022,1023"},
                                     {std::vector{-1}, "-1"},
                                     {std::vector{1000000}, "1000000"}}) {
    try {
      const ScopedAffinity pinned(cores);
      FAIL() << "no error for " << named;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
    EXPECT_EQ(allowed_cores(), before);
  }
}

TEST(AffinityTest, ACoreThatIsNotThereIsNotDroppedFromAList) {
  const std::vector<int> before = allowed_cores();
  for (const int missing : {1023, 1000000, -1}) {
    try {
      pin_current_thread({before.front(), missing});
      ADD_FAILURE() << "no error for " << missing;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_EQ(std::string(error.what()).rfind("core " + std::to_string(missing) + " ", 0), 0U)
          << error.what();
    }
    EXPECT_EQ(allowed_cores(), before);
  }
}

TEST(AffinityTest, ACoreNamedTwiceIsOneCore) {
  const std::vector<int> before = allowed_cores();
  {
    const ScopedAffinity pinned({before.front(), before.front()});
    EXPECT_EQ(allowed_cores(), std::vector{before.front()});
  }
  EXPECT_EQ(allowed_cores(), before);
}

TEST(AffinityTest, PreferredCoresThatAreNotThereAreDoneWithout) {
  const std::vector<int> before = allowed_cores();
  {
    const ScopedAffinity pinned({1022, 1023}, Pinning::kPreferred);
    EXPECT_FALSE(pinned.pinned());
    EXPECT_EQ(allowed_cores(), before);
  }
  EXPECT_EQ(allowed_cores(), before);
  EXPECT_TRUE(ScopedAffinity({before.front()}, Pinning::kPreferred).pinned());
}

/// From now on the kernel refuses sched_setaffinity to the calling thread, as a service manager's
/// filter of system calls does.
void refuse_pinning() {
  std::array<sock_filter, 4> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(AffinityTest, AKernelThatRefusesToPinIsDoneWithoutAndNotToldToNameOtherCores) {
  const int core = allowed_cores().front();
  std::jthread([&] {
    refuse_pinning();
    EXPECT_FALSE(pin_current_thread({core}, Pinning::kPreferred));
    try {
      pin_current_thread({core});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("Operation not permitted"));
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("name some of them")));
    }
  }).join();
}

}  // namespace
}  // namespace ahead
