// Progress whose reader does not read: nobody waits for it, and no line is lost.
// May use: GoogleTest, POSIX.
#include "progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>
#include <string>

#include "report.h"

namespace ahead::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Style = ProgressDisplay::Style;

constexpr std::size_t kPage = 4096;

// A pipe that is full.
class FullPipe {
 public:
  FullPipe() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(ends_.data()), 0);
    EXPECT_EQ(::fcntl(writer(), F_SETPIPE_SZ, static_cast<int>(kPage)), static_cast<int>(kPage));
    const std::string fill(kPage, '#');
    EXPECT_EQ(::write(writer(), fill.data(), fill.size()), static_cast<ssize_t>(fill.size()));
  }
  ~FullPipe() {
    ::close(ends_[0]);
    end();
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  [[nodiscard]] int writer() const { return ends_[1]; }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // All that comes until the other end is closed, without what filled it.
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, kPage> buffer{};
    for (ssize_t length = 0; (length = ::read(ends_[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(length));
    }
    return text.substr(kPage);
  }

 private:
  std::array<int, 2> ends_{};
};

// With a run's calls and its last words, which wait for the reader.
std::string shown(Style style) {
  FullPipe pipe;
  std::future<std::string> text;
  {
    Outlet out(pipe.writer());
    ProgressDisplay display({.style = style, .fd = pipe.writer()}, out);
    display.notice("a note");
    display.phase("reading m.gguf");
    display.begin_request(3);
    display.around_text("text", [] {});
    display.phase("verifying");
    display.finish();
    text = std::async(std::launch::async, [&] { return pipe.read(); });
    report(out, "the end\n");
  }
  pipe.end();
  return text.get();
}

TEST(Progress, LinesThatNobodyReadsKeepNobodyWaitingAndComeLater) {
  const std::string text = shown(Style::kLines);
  EXPECT_EQ(text.find("ahead: note: a note\n"), 0U) << text;
  EXPECT_LT(text.find("reading m.gguf"), text.find("verifying"));
  EXPECT_LT(text.find("verifying"), text.find("the end\n"));
}

TEST(Progress, ABarThatNobodySeesIsNotDrawn) {
  const std::string text = shown(Style::kBar);
  EXPECT_THAT(text, HasSubstr("ahead: note: a note\n"));
  EXPECT_THAT(text, Not(HasSubstr("reading")));
  EXPECT_THAT(text, HasSubstr("the end\n"));
}

}  // namespace
}  // namespace ahead::cli
