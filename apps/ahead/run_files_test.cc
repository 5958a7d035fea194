// Files of a run: an output that is an input or another output is refused before anything runs.
// May use: GoogleTest, POSIX.
#include "run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RunFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ahead_run_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* file : {"m.gguf", "p.txt"}) std::ofstream(path(file)) << "some text";
    request_.model = path("m.gguf");
    request_.prompt.file = path("p.txt");
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  // Why it is refused; empty when it is not.
  [[nodiscard]] std::string refusal() const {
    try {
      (void)open_files(request_);
      return {};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      return error.what();
    }
  }

  fs::path folder_;
  RunRequest request_;
};

TEST_F(RunFilesTest, FilesThatAreAllDifferentAreRead) {
  request_.json = path("r.json");
  request_.trace = path("t.json");
  request_.pipeline.history = path("h.json");
  const RunFiles files = open_files(request_);
  EXPECT_TRUE(files.json.has_value());
  EXPECT_TRUE(files.trace.has_value());
  EXPECT_EQ(files.material.prompt, "some text");
  EXPECT_FALSE(fs::exists(path("r.json")));
}

TEST_F(RunFilesTest, NoOutputMayBeAnInputOrAnotherOutput) {
  struct Case {
    const char* first;
    const char* second;
    std::function<void()> give;
  };
  const fs::path out = path("out.json");
  for (const Case& one : {
           Case{"--json", "MODEL", [&] { request_.json = request_.model; }},
           Case{"--trace", "MODEL", [&] { request_.trace = request_.model; }},
           Case{"--history", "MODEL", [&] { request_.pipeline.history = request_.model; }},
           Case{"--json", "--prompt-file", [&] { request_.json = request_.prompt.file; }},
           Case{"--json", "--force",
                [&] {
                  request_.prompt = {.forced_file = path("p.txt"), .first_of_forced = 1};
                  request_.json = path("./p.txt");
                }},
           Case{"--trace", "--batch",
                [&] {
                  request_.prompt = {.batch_file = path("p.txt")};
                  request_.trace = path("p.txt");
                }},
           Case{"--json", "--trace", [&] { request_.json = request_.trace = out; }},
           Case{"--json", "--history",
                [&] {
                  request_.json = out;
                  request_.pipeline.history = path("./out.json");
                }},
       }) {
    const RunRequest before = request_;
    one.give();
    EXPECT_THAT(refusal(), AllOf(HasSubstr(std::string(one.first) + " '"),
                                 HasSubstr(std::string(one.second) + " '")));
    request_ = before;
  }
}

}  // namespace
}  // namespace ahead::cli
