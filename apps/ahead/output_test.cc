// Tests of writing text. May use: GoogleTest, POSIX.
#include "output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <string>

namespace ahead::cli {
namespace {

using ::testing::HasSubstr;

std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

TEST(TextOutputs, TextGoesOutAsItIsMade) {
  std::string path = ::testing::TempDir() + "ahead_output_XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  TextOutput text(fd);
  EXPECT_TRUE(text.write("the sea"));
  EXPECT_EQ(contents(path), "the sea");
  text.end_line();
  text.end_line();
  EXPECT_EQ(contents(path), "the sea\n");
  EXPECT_TRUE(text.write("x\n"));
  text.end_line();
  EXPECT_EQ(contents(path), "the sea\nx\n");
  EXPECT_EQ(text.error(), "");
  ::close(fd);
  ::unlink(path.c_str());
}

TEST(TextOutputs, AReaderThatLeftIsNoticedOnceAndQuietly) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::close(pipe[0]);
  TextOutput text(pipe[1]);
  EXPECT_FALSE(text.write("x"));
  EXPECT_TRUE(text.reader_gone());
  EXPECT_EQ(text.error(), "");
  EXPECT_FALSE(text.write("y"));
  ::close(pipe[1]);
}

TEST(TextOutputs, AStopWhileTheReaderDoesNotReadIsNoError) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  std::stop_source stop;
  stop.request_stop();
  TextOutput text(pipe[1], stop.get_token());
  EXPECT_FALSE(text.write(std::string(std::size_t{1} << 20, 'x')));
  EXPECT_TRUE(text.given_up());
  EXPECT_FALSE(text.reader_gone());
  EXPECT_EQ(text.error(), "");
  ::close(pipe[0]);
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
