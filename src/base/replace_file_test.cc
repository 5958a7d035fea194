// Files that are replaced, written in place, or refused. May use: GoogleTest, POSIX.
#include "base/replace_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <optional>
#include <sstream>
#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder of the test's own.
class ReplaceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ahead_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  static std::string contents(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  static struct stat info(const std::string& path) {
    struct stat out {};
    EXPECT_EQ(::stat(path.c_str(), &out), 0);
    return out;
  }

  fs::path folder_;
};

// For its life no file of this process grows beyond `bytes`, as on a full disk.
class LimitedFiles {
 public:
  explicit LimitedFiles(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~LimitedFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  LimitedFiles(const LimitedFiles&) = delete;
  LimitedFiles& operator=(const LimitedFiles&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

std::optional<ErrorKind> refusal(const std::function<void()>& action, std::string* text = nullptr) {
  try {
    action();
    return std::nullopt;
  } catch (const Error& error) {
    if (text != nullptr) {
      *text = error.what();
    }
    return error.kind();
  }
}

TEST_F(ReplaceFile, AFileIsReplacedAsAWholeAndNothingElseIsLeft) {
  replace_file(path("a.json"), "old and long");
  check_replaceable(path("a.json"));
  EXPECT_EQ(contents(path("a.json")), "old and long");
  replace_file(path("a.json"), "new");
  EXPECT_EQ(contents(path("a.json")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, CheckingLeavesNothingBehind) {
  check_replaceable(path("a.json"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(ReplaceFile, WhatCanNotBeWrittenIsKnownBefore) {
  std::string text;
  EXPECT_EQ(refusal([&] { check_replaceable(path("none/a.json")); }, &text),
            ErrorKind::kInvalidArgument);
  EXPECT_THAT(text, AllOf(HasSubstr("none/a.json"), HasSubstr("No such file or directory")));
  fs::create_symlink("loop", path("loop"));
  for (const std::string& wrong :
       {folder_.string(), std::string(), path(std::string(300, 'x')), path("new/"), path("loop")}) {
    EXPECT_EQ(refusal([&] { check_replaceable(wrong); }), ErrorKind::kInvalidArgument) << wrong;
    EXPECT_EQ(refusal([&] { replace_file(wrong, "x"); }), ErrorKind::kIo) << wrong;
  }
}

TEST_F(ReplaceFile, AFolderThatVanishedIsAnInputOutputError) {
  EXPECT_EQ(refusal([&] { replace_file(path("none/a.json"), "x"); }), ErrorKind::kIo);
}

TEST_F(ReplaceFile, AFullDiskIsAnErrorAndTheDeviceStaysADevice) {
  check_replaceable("/dev/full");
  std::string text;
  EXPECT_EQ(refusal([] { replace_file("/dev/full", "x"); }, &text), ErrorKind::kIo);
  EXPECT_THAT(text, HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(ReplaceFile, ALimitOnTheSizeOfFilesLeavesTheOldFileAndNoDraft) {
  for (const bool linked : {false, true}) {  // written beside, and in place
    replace_file(path("a.json"), "old");
    if (linked) fs::create_hard_link(path("a.json"), path("b.json"));
    std::string text;
    {
      const LimitedFiles limited(64);
      EXPECT_EQ(refusal([&] { replace_file(path("a.json"), std::string(65, 'x')); }, &text),
                ErrorKind::kIo);
    }
    EXPECT_THAT(text, AllOf(HasSubstr("a.json"), HasSubstr("File too large"), HasSubstr("ulimit")));
    EXPECT_EQ(contents(path("a.json")), "old");
    EXPECT_EQ(files(), linked ? 2U : 1U);
  }
}

TEST_F(ReplaceFile, ALinkStaysALinkAlsoWhereItsEndIsNotThereYet) {
  replace_file(path("real.json"), "old");
  fs::create_symlink("real.json", path("link.json"));
  fs::create_symlink("link.json", path("second.json"));
  fs::create_symlink(path("later.json"), path("dangling.json"));
  check_replaceable(path("dangling.json"));
  replace_file(path("second.json"), "new");
  replace_file(path("dangling.json"), "later");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_TRUE(fs::is_symlink(path("second.json")));
  EXPECT_TRUE(fs::is_symlink(path("dangling.json")));
  EXPECT_EQ(contents(path("real.json")), "new");
  EXPECT_EQ(contents(path("later.json")), "later");
}

TEST_F(ReplaceFile, PermissionsOfWhatIsReplacedStay) {
  replace_file(path("a.json"), "old");
  for (const mode_t mode : {0600U, 0666U, 0640U}) {
    ASSERT_EQ(::chmod(path("a.json").c_str(), mode), 0);
    replace_file(path("a.json"), "new");
    EXPECT_EQ(info(path("a.json")).st_mode & 07777U, mode);
  }
}

TEST_F(ReplaceFile, TheOwnerOfWhatIsReplacedStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  replace_file(path("a.json"), "old");
  ASSERT_EQ(::chown(path("a.json").c_str(), 65534, 65534), 0);
  replace_file(path("a.json"), "new");
  EXPECT_EQ(info(path("a.json")).st_uid, 65534U);
  EXPECT_EQ(info(path("a.json")).st_gid, 65534U);
}

TEST_F(ReplaceFile, OtherNamesOfAFileSeeWhatIsWritten) {
  replace_file(path("a.json"), "old and long");
  fs::create_hard_link(path("a.json"), path("b.json"));
  replace_file(path("a.json"), "new");
  EXPECT_EQ(contents(path("b.json")), "new");
  EXPECT_EQ(files(), 2U);
}

TEST_F(ReplaceFile, AFileInAFolderThatMayNotBeWrittenToIsWrittenInPlace) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  replace_file(path("a.json"), "old and long");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  check_replaceable(path("a.json"));
  replace_file(path("a.json"), "new");
  EXPECT_EQ(contents(path("a.json")), "new");
  EXPECT_EQ(refusal([&] { check_replaceable(path("b.json")); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal([&] { replace_file(path("b.json"), "x"); }), ErrorKind::kIo);
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(ReplaceFile, AFileThatMayNotBeWrittenToStays) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  replace_file(path("a.json"), "old");
  ASSERT_EQ(::chmod(path("a.json").c_str(), 0444), 0);
  EXPECT_EQ(refusal([&] { check_replaceable(path("a.json")); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal([&] { replace_file(path("a.json"), "x"); }), ErrorKind::kIo);
  EXPECT_EQ(contents(path("a.json")), "old");
}

// As after a process that was killed; in a container the next one may have the same number.
TEST_F(ReplaceFile, ADraftThatWasLeftBehindIsNoObstacle) {
  const std::string left = path(".ahead-" + std::to_string(::getpid()) + "-0.part");
  std::ofstream(left) << "left";
  check_replaceable(path("a.json"));
  replace_file(path("a.json"), "new");
  EXPECT_EQ(contents(path("a.json")), "new");
  EXPECT_EQ(contents(left), "left");
}

TEST_F(ReplaceFile, AFileWithoutANameIsWrittenThroughItsDescriptor) {
  const int fd = ::open(path("a.json").c_str(), O_RDWR | O_CREAT, 0600);
  fs::remove(path("a.json"));
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  check_replaceable(link);
  replace_file(link, "text");
  std::array<char, 8> buffer{};
  EXPECT_EQ(::pread(fd, buffer.data(), buffer.size(), 0), 4);
  ::close(fd);
  EXPECT_EQ(files(), 0U);
}

TEST_F(ReplaceFile, APipeWaitsForItsReader) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  check_replaceable(pipe);
  auto read = std::async(std::launch::async, [&] { return contents(pipe); });
  const std::string text(200'000, 'x');
  replace_file(pipe, text);
  EXPECT_EQ(read.get(), text);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(ReplaceFile, APipeThatNobodyReadsDoesNotOutlastTheStop) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::stop_source stop;
  stop.request_stop();
  std::string text;
  EXPECT_EQ(refusal([&] { replace_file(pipe, "x", stop.get_token()); }, &text), ErrorKind::kIo);
  EXPECT_THAT(text, HasSubstr("pipe"));
}

}  // namespace
}  // namespace ahead
