// Memory from the real kernel, and its account of it. May use: base, GoogleTest.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include "ahead/error.h"
#include "kv/fault_count.h"
#include "kv/page_provider.h"

namespace ahead::kv {
namespace {

class OsPagesTest : public ::testing::Test {
 protected:
  ~OsPagesTest() override {
    if (region_.data != nullptr) pages_.release(region_);
  }

  const Region& allocate(std::size_t bytes) {
    region_ = pages_.allocate(bytes);
    return region_;
  }
  [[nodiscard]] std::size_t committed() const { return pages_.committed_bytes(region_); }
  [[nodiscard]] long faults_of_reading() const {
    return faults_of([&] { read_pages(region_.data, region_.bytes, page_); });
  }
  void write_page(std::size_t page) { region_.data[page * page_] = std::byte{1}; }

  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  OsPages pages_;
  Region region_;
};

TEST_F(OsPagesTest, MemoryIsPageAlignedAndReadsAsZero) {
  const Region& region = allocate(3 * page_ + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data) % page_, 0U);
  EXPECT_EQ(region.bytes, 3 * page_ + 5);
  EXPECT_EQ(
      std::accumulate(region.data, region.data + region.bytes, 0U,
                      [](unsigned sum, std::byte b) { return sum + std::to_integer<unsigned>(b); }),
      0U);
}

TEST_F(OsPagesTest, ReadingCommitsNothingAndWritingCommitsWhatIsWritten) {
  // More pages than one reading of the pagemap takes.
  const std::size_t count = 10000;
  const Region& region = allocate(count * page_);
  EXPECT_EQ(committed(), 0U);

  unsigned sum = 0;
  for (std::size_t page = 0; page < count; ++page) {
    sum += std::to_integer<unsigned>(
        *static_cast<const volatile std::byte*>(region.data + page * page_));
  }
  EXPECT_EQ(sum, 0U);
  EXPECT_EQ(committed(), 0U);

  for (std::size_t page = 0; page < count / 2; ++page) write_page(page);
  EXPECT_EQ(committed(), count / 2 * page_);

  for (std::size_t page = count / 2; page < count; ++page) write_page(page);
  EXPECT_EQ(committed(), count * page_);
}

TEST_F(OsPagesTest, OneWriteCommitsOnePage) {
  // Room for aligned huge pages at any base.
  constexpr std::size_t kHuge = std::size_t{2} << 20U;
  allocate(4 * kHuge);
  write_page(2 * kHuge / page_);
  EXPECT_EQ(committed(), page_);
}

TEST_F(OsPagesTest, PrefaultedPagesAreReadWithoutFaultsAndCommitNothing) {
  constexpr std::size_t kCount = 1000;
  for (const bool populate : {true, false}) {
    OsPages pages({.populate = populate});
    for (const bool reserved : {true, false}) {
      SCOPED_TRACE(std::string(populate ? "populated" : "read") + (reserved ? ", reserved" : ""));
      region_ = reserved ? pages.reserve(kCount * page_) : pages.allocate(kCount * page_);
      pages.prefault(region_, {.begin = 0, .bytes = region_.bytes});
      EXPECT_LT(faults_of_reading(), kFewFaults);
      EXPECT_EQ(committed(), 0U);
      write_page(1);
      EXPECT_EQ(committed(), page_);
      pages.release(region_);
      region_ = {};
    }
  }
}

TEST_F(OsPagesTest, PagesThatWereNotPrefaultedTakeAFaultEach) {
  constexpr std::size_t kCount = 1000;
  allocate(kCount * page_);
  pages_.prefault(region_, {.begin = 0, .bytes = region_.bytes / 2});
  const long faults = faults_of_reading();
  EXPECT_GE(faults, static_cast<long>(kCount / 2));
  EXPECT_LE(faults - static_cast<long>(kCount / 2), kFewFaults);
}

TEST_F(OsPagesTest, PrefaultKeepsWhatWasWritten) {
  for (const bool populate : {true, false}) {
    OsPages pages({.populate = populate});
    region_ = pages.reserve(3 * page_);
    write_page(1);
    pages.prefault(region_, {.begin = 1, .bytes = 3 * page_ - 1});
    EXPECT_EQ(region_.data[page_], std::byte{1});
    EXPECT_EQ(committed(), page_);
    pages.release(region_);
    region_ = {};
  }
}

TEST_F(OsPagesTest, CommitBacksThePagesOfItsRangeAndNoOthers) {
  allocate(10 * page_);
  write_page(3);
  pages_.commit(region_, {.begin = 2 * page_ + 1, .bytes = 2 * page_});
  if (committed() == page_) GTEST_SKIP() << "this kernel cannot be asked to commit";
  EXPECT_EQ(committed(), 3 * page_) << "the range reaches into three pages";
  EXPECT_EQ(region_.data[3 * page_], std::byte{1});
  EXPECT_EQ(region_.data[2 * page_], std::byte{0});
}

TEST_F(OsPagesTest, CommittedPagesAreWrittenWithoutFaults) {
  constexpr std::size_t kCount = 1000;
  for (const bool prefaulted : {true, false}) {
    region_ = pages_.reserve(kCount * page_);
    if (prefaulted) pages_.prefault(region_, {.begin = 0, .bytes = region_.bytes});
    pages_.commit(region_, {.begin = 0, .bytes = region_.bytes});
    if (committed() == 0) GTEST_SKIP() << "this kernel cannot be asked to commit";
    EXPECT_EQ(committed(), region_.bytes);
    EXPECT_LT(faults_of([&] {
                for (std::size_t page = 0; page < kCount; ++page) write_page(page);
              }),
              kFewFaults);
    pages_.release(region_);
    region_ = {};
  }
}

TEST_F(OsPagesTest, AKernelThatCannotCommitLeavesItToTheWrite) {
  OsPages pages({.populate = false});
  region_ = pages.reserve(4 * page_);
  pages.commit(region_, {.begin = 0, .bytes = region_.bytes});
  EXPECT_EQ(committed(), 0U);
  write_page(2);
  EXPECT_EQ(committed(), page_);
  pages.release(region_);
  region_ = {};
}

TEST_F(OsPagesTest, MemoryThatCannotBeBackedIsAnErrorWithTheBytesWanted) {
  allocate(8 * page_);
  // A page of a file that has none: writing it would be a SIGBUS, as where memory is gone. (A hole
  // in the region would be taken by whatever is mapped next, and released with it.)
  const int empty = memfd_create("empty", 0);
  ASSERT_GE(empty, 0);
  ASSERT_NE(mmap(region_.data + 3 * page_, page_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 empty, 0),
            MAP_FAILED);
  close(empty);
  try {
    pages_.commit(region_, {.begin = page_, .bytes = 5 * page_});
    if (committed() == 0) GTEST_SKIP() << "this kernel cannot be asked to commit";
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(5 * page_) + " bytes"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(OsPagesTest, HugePagesAreRefusedForTheRegionWhateverTheSystemSays) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  // The kernel may merge equal neighbours into one mapping, so look for the one that contains it.
  const auto wanted = reinterpret_cast<std::uintptr_t>(allocate(16 * page_).data);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  std::string flags;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-');
    const std::size_t space = line.find(' ');
    if (dash != std::string::npos && space != std::string::npos && dash < space) {
      inside = std::stoull(line.substr(0, dash), nullptr, 16) <= wanted &&
               wanted < std::stoull(line.substr(dash + 1, space - dash - 1), nullptr, 16);
    } else if (inside && line.starts_with("VmFlags:")) {
      flags = line + " ";
    }
  }
  EXPECT_NE(flags.find(" nh "), std::string::npos) << flags;
}

TEST_F(OsPagesTest, CommittedNeverExceedsWhatWasAskedFor) {
  allocate(page_ + 100);
  write_page(0);
  EXPECT_EQ(committed(), page_);
  write_page(1);
  EXPECT_EQ(committed(), page_ + 100);
}

TEST_F(OsPagesTest, RefusedMemoryIsAnErrorWithTheBytesWanted) {
  const std::size_t bytes = std::numeric_limits<std::size_t>::max() / 4;
  try {
    allocate(bytes);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos)
        << error.what();
  }
}

TEST_F(OsPagesTest, AccountThatCannotBeReadIsAnError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer opens files of its own";
#endif
  allocate(page_);
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  ErrorKind kind = ErrorKind::kInterrupted;
  try {
    static_cast<void>(committed());
  } catch (const Error& error) {
    kind = error.kind();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace ahead::kv
