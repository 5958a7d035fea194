// Writing to readers that are slow, stuck or gone. May use: GoogleTest, POSIX.
#include "base/outlet.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <string>

namespace ahead {
namespace {

constexpr std::size_t kPage = 4096;

struct Pair {
  int reader = -1;
  int writer = -1;

  Pair() = default;
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    close_reader();
    ::close(writer);
  }
  void close_reader() {
    if (reader >= 0) ::close(reader);
    reader = -1;
  }
  std::string read(std::size_t most = 1 << 20) const {
    std::string text(most, '\0');
    const ssize_t length = ::read(reader, text.data(), text.size());
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
  }
  // Until that much is there, on a thread of its own.
  std::future<std::string> drained(std::size_t bytes) const {
    return std::async(std::launch::async, [this, bytes] {
      std::string text;
      while (text.size() < bytes) {
        const std::string more = read();
        if (more.empty()) break;
        text += more;
      }
      return text;
    });
  }
};

// A pipe of one page, full up to `free` bytes.
struct NarrowPipe : Pair {
  explicit NarrowPipe(std::size_t free = 0) {
    std::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reader = ends[0];
    writer = ends[1];
    EXPECT_EQ(::fcntl(writer, F_SETPIPE_SZ, static_cast<int>(kPage)), static_cast<int>(kPage));
    const std::string fill(kPage - free, '#');
    EXPECT_EQ(::write(writer, fill.data(), fill.size()), static_cast<ssize_t>(fill.size()));
  }
};

std::stop_token stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

TEST(Outlet, EverythingArrivesThoughThePipeIsFullAndDoesNotBlock) {
  for (const int flags : {0, O_NONBLOCK}) {
    const NarrowPipe pipe;
    ASSERT_EQ(::fcntl(pipe.writer, F_SETFL, flags), 0);
    const std::string text(3 * kPage + 5, 'x');
    Outlet outlet(pipe.writer);
    auto read = pipe.drained(kPage + text.size());
    EXPECT_EQ(outlet.write(text), 0);
    EXPECT_EQ(read.get(), std::string(kPage, '#') + text);
  }
}

TEST(Outlet, AStopEndsTheWaitForAReaderThatDoesNotRead) {
  for (const int flags : {0, O_NONBLOCK}) {
    const NarrowPipe pipe;
    ASSERT_EQ(::fcntl(pipe.writer, F_SETFL, flags), 0);
    std::stop_source source;
    Outlet outlet(pipe.writer, {.stop = source.get_token(), .grace = std::chrono::milliseconds(1)});
    auto written = std::async(std::launch::async, [&] { return outlet.write("x"); });
    source.request_stop();
    EXPECT_EQ(written.get(), ECANCELED);
    EXPECT_EQ(pipe.read().size(), kPage);
    EXPECT_EQ(outlet.write("later"), ECANCELED) << "a text with a hole";
  }
}

TEST(Outlet, WhatTheReaderTakesAfterAStopIsWritten) {
  const NarrowPipe pipe(1024);
  Outlet outlet(pipe.writer, {.stop = stopped(), .grace = std::chrono::milliseconds(1)});
  EXPECT_EQ(outlet.write("the sea"), 0);
  EXPECT_EQ(pipe.read().substr(kPage - 1024), "the sea");
}

TEST(Outlet, ASlowReaderIsWaitedForWithinTheGrace) {
  const NarrowPipe pipe;
  Outlet outlet(pipe.writer, {.stop = stopped(), .grace = std::chrono::hours(1)});
  auto read = pipe.drained(kPage + 3);
  EXPECT_EQ(outlet.write("sea"), 0);
  EXPECT_EQ(read.get().substr(kPage), "sea");
}

TEST(Outlet, ATerminalStoppedWithCtrlSDoesNotOutlastTheStop) {
  Pair terminal;
  ASSERT_EQ(::openpty(&terminal.reader, &terminal.writer, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(::tcflow(terminal.writer, TCOOFF), 0);
  Outlet outlet(terminal.writer, {.stop = stopped(), .grace = std::chrono::milliseconds(1)});
  EXPECT_EQ(outlet.write(std::string(kPage, 'x')), ECANCELED);
}

TEST(Outlet, ASocketWhoseReaderDoesNotReadDoesNotOutlastTheStop) {
  Pair pair;
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  pair.reader = ends[0];
  pair.writer = ends[1];
  Outlet outlet(pair.writer, {.stop = stopped(), .grace = std::chrono::milliseconds(1)});
  EXPECT_EQ(outlet.write("sea"), 0);
  EXPECT_EQ(pair.read(), "sea");
  EXPECT_EQ(outlet.write(std::string(std::size_t{16} << 20, 'x')), ECANCELED);
}

TEST(Outlet, TheFlagsOfASharedDescriptorStay) {
  const NarrowPipe pipe(kPage);
  const int before = ::fcntl(pipe.writer, F_GETFL);
  {
    Outlet outlet(pipe.writer);
    EXPECT_EQ(outlet.write("sea"), 0);
    EXPECT_EQ(::fcntl(pipe.writer, F_GETFL), before);
  }
  EXPECT_EQ(::write(pipe.writer, "x", 1), 1) << "it was closed";
}

TEST(Outlet, WhatIsOfferedDoesNotWaitAndComesInOrder) {
  const NarrowPipe pipe;
  Outlet outlet(pipe.writer);
  EXPECT_TRUE(outlet.idle());
  outlet.offer("one ");
  outlet.offer("two ");
  EXPECT_FALSE(outlet.idle());
  auto read = pipe.drained(kPage + 13);
  EXPECT_EQ(outlet.write("three"), 0);
  EXPECT_EQ(read.get().substr(kPage), "one two three");
  EXPECT_TRUE(outlet.idle());
}

TEST(Outlet, AnOfferThatNobodyReadsDoesNotGrowForEver) {
  const NarrowPipe pipe;
  Outlet outlet(pipe.writer, {.stop = stopped(), .grace = std::chrono::milliseconds(1)});
  outlet.offer(std::string(std::size_t{1} << 20, 'x'));
  outlet.offer("y");
  EXPECT_EQ(outlet.flush(), ECANCELED);
}

TEST(Outlet, AReaderThatLeftIsAnError) {
  NarrowPipe pipe(kPage);
  Outlet outlet(pipe.writer);
  pipe.close_reader();
  EXPECT_EQ(outlet.write("x"), EPIPE);
  outlet.offer("x");
  EXPECT_TRUE(outlet.idle());
}

TEST(Outlet, ATerminalThatHungUpIsAnError) {
  Pair terminal;
  ASSERT_EQ(::openpty(&terminal.reader, &terminal.writer, nullptr, nullptr, nullptr), 0);
  Outlet outlet(terminal.writer);
  terminal.close_reader();
  EXPECT_EQ(outlet.write("x"), EIO);
}

TEST(Outlet, WhatIsNoPlaceToWriteToIsAnError) {
  const int read_only = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(Outlet(read_only).write("x"), EBADF);
  ::close(read_only);
  EXPECT_EQ(Outlet(read_only).write("x"), EBADF);
  const int full = ::open("/dev/full", O_WRONLY);
  EXPECT_EQ(Outlet(full).write("x"), ENOSPC);
  ::close(full);
}

}  // namespace
}  // namespace ahead
