// Programs that end as they like, and programs that take turns.
#include "child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ahead::cli {
namespace {

using testing::HasSubstr;

ChildRequest shell(const std::string& script) { return {.words = {"sh", "-c", script}}; }

TEST(ChildProcess, TellsWhatItPrintedAndHowItEnded) {
  const ChildResult good = run_child(shell("echo out; echo err >&2"));
  EXPECT_TRUE(good.good());
  EXPECT_EQ(good.output, "out\n");
  EXPECT_EQ(good.errors, "err\n");
  EXPECT_TRUE(good.first_output_s);
  EXPECT_THAT(run_child(shell("echo why >&2; exit 3")).failure(), HasSubstr("exit code 3: why"));
  EXPECT_THAT(run_child(shell("kill -9 $$")).failure(), HasSubstr("signal 9"));
  EXPECT_THAT(run_child({.words = {"/no/such/program"}}).failure(), HasSubstr("cannot be run"));
}

TEST(ChildProcess, InTurnsEachHasItsOwnResult) {
  const auto results = run_in_turns(
      {shell("echo a"), {.words = {"/no/such/program"}}, shell("exit 3"), shell("echo d")},
      std::chrono::milliseconds(5));
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].output, "a\n");
  EXPECT_THAT(results[1].failure(), HasSubstr("cannot be run"));
  EXPECT_EQ(results[2].exit_code, 3);
  EXPECT_EQ(results[3].output, "d\n");
}

// Two that write a byte at a time into one file: where both ran at once, their bytes would mix.
TEST(ChildProcess, InTurnsOneRunsAtATime) {
  std::string name = (std::filesystem::temp_directory_path() / "ahead-turns-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  ASSERT_GE(file, 0);
  ::close(file);
  const auto writes = [&](const std::string& letter) {
    return shell("yes " + letter + " | tr -d '\\n' | head -c 200000 | dd bs=1 status=none >>" +
                 name);
  };
  const auto results = run_in_turns({writes("a"), writes("b")}, std::chrono::milliseconds(10));
  EXPECT_TRUE(results[0].good()) << results[0].failure();
  EXPECT_TRUE(results[1].good()) << results[1].failure();
  std::ifstream in(name, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::filesystem::remove(name);
  ASSERT_EQ(text.size(), 400000U);
  int changes = 0;
  for (std::size_t i = 1; i < text.size(); ++i) changes += text[i] != text[i - 1] ? 1 : 0;
  EXPECT_GE(changes, 2) << "neither waits for the other's end";
  EXPECT_LT(changes, 2000);
}

// A timeout counts the time in which it ran, and ends it though others wait for their turn.
TEST(ChildProcess, InTurnsATimeoutEndsOneOfThem) {
  ChildRequest endless = shell("while :; do :; done");
  endless.timeout = std::chrono::milliseconds(50);
  const auto results = run_in_turns({endless, shell("echo b")}, std::chrono::milliseconds(10));
  EXPECT_TRUE(results[0].timed_out);
  EXPECT_TRUE(results[1].good());
}

}  // namespace
}  // namespace ahead::cli
