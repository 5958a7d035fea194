// Tests of writing text and files. May use: GoogleTest, POSIX.
#include "output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder of the test's own.
class OutputFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ahead_output_XXXXXX").string();
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

  fs::path folder_;
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

TEST_F(OutputFiles, AFileIsReplacedAsAWholeAndNothingElseIsLeft) {
  write_file(path("a.json"), "old and long");
  check_writable(path("a.json"));
  EXPECT_EQ(contents(path("a.json")), "old and long");
  write_file(path("a.json"), "new");
  EXPECT_EQ(contents(path("a.json")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFiles, CheckingLeavesNothingBehind) {
  check_writable(path("a.json"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(OutputFiles, WhatCanNotBeWrittenIsKnownBefore) {
  std::string text;
  EXPECT_EQ(refusal([&] { check_writable(path("none/a.json")); }, &text),
            ErrorKind::kInvalidArgument);
  EXPECT_THAT(text, AllOf(HasSubstr("none/a.json"), HasSubstr("No such file or directory")));
  EXPECT_EQ(refusal([&] { check_writable(folder_.string()); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal([&] { check_writable(""); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal([&] { check_writable(path(std::string(300, 'x'))); }),
            ErrorKind::kInvalidArgument);
}

TEST_F(OutputFiles, AFolderThatVanishedIsAnInputOutputError) {
  EXPECT_EQ(refusal([&] { write_file(path("none/a.json"), "x"); }), ErrorKind::kIo);
}

TEST_F(OutputFiles, AFullDiskIsAnErrorAndTheDeviceStaysADevice) {
  check_writable("/dev/full");
  std::string text;
  EXPECT_EQ(refusal([] { write_file("/dev/full", "x"); }, &text), ErrorKind::kIo);
  EXPECT_THAT(text, HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFiles, ALinkStaysALink) {
  write_file(path("real.json"), "old");
  fs::create_symlink("real.json", path("link.json"));
  write_file(path("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(contents(path("real.json")), "new");
}

TEST_F(OutputFiles, TextGoesOutAsItIsMade) {
  const int fd = ::open(path("text").c_str(), O_WRONLY | O_CREAT, 0600);
  TextOutput text(fd);
  EXPECT_TRUE(text.write("the sea"));
  EXPECT_EQ(contents(path("text")), "the sea");
  text.end_line();
  text.end_line();
  EXPECT_EQ(contents(path("text")), "the sea\n");
  EXPECT_TRUE(text.write("x\n"));
  text.end_line();
  EXPECT_EQ(contents(path("text")), "the sea\nx\n");
  EXPECT_EQ(text.error(), "");
  ::close(fd);
}

TEST(TextOutputs, AReaderThatLeftIsNoticedOnceAndQuietly) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::close(pipe[0]);
  TextOutput text(pipe[1]);
  EXPECT_FALSE(text.write("x"));
  EXPECT_TRUE(text.reader_gone());
  EXPECT_FALSE(text.write("y"));
  ::close(pipe[1]);
}

TEST(TextOutputs, AFullDiskSaysSo) {
  const int fd = ::open("/dev/full", O_WRONLY);
  TextOutput text(fd);
  EXPECT_FALSE(text.write("x"));
  EXPECT_FALSE(text.reader_gone());
  EXPECT_THAT(text.error(), HasSubstr("No space left on device"));
  ::close(fd);
}

}  // namespace
}  // namespace ahead::cli
