// The history file: what comes back, and that nothing damaged or foreign does.
// May use: plan, GoogleTest.
#include "api/history_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace ahead::api {
namespace {

using testing::HasSubstr;

class HistoryFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    path = folder / "cache" / "history.json";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string text() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void put(const std::string& contents) const {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << contents;
  }
  /// The file as saved, with one piece of it replaced.
  void damage(const std::string& from, const std::string& to) const {
    std::string contents = text();
    const auto at = contents.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in\n" << contents;
    put(contents.replace(at, from.size(), to));
  }

  [[nodiscard]] static plan::History some(double seconds = 0.5) {
    plan::History history;
    history.compiles_s[{"attention", "attention+body", 128, 1, 1024}] = {seconds, 0.75};
    history.steps_s[{"attention/static", 1, 4, 2048}] = {0.025};
    return history;
  }

  std::filesystem::path folder;
  std::filesystem::path path;
};

TEST_F(HistoryFileTest, WhatIsSavedComesBack) {
  const HistoryFile file(path);
  EXPECT_EQ(file.save("this model", some()), "");
  const auto loaded = file.load("this model");
  EXPECT_EQ(loaded.history, some());
  EXPECT_EQ(loaded.ignored, "");
}

TEST_F(HistoryFileTest, NoFileIsAnEmptyHistory) {
  const auto loaded = HistoryFile(path).load("this model");
  EXPECT_EQ(loaded.history, plan::History{});
  EXPECT_EQ(loaded.ignored, "");
}

TEST_F(HistoryFileTest, AnotherKeysHistoryIsNotTaken) {
  const HistoryFile file(path);
  ASSERT_EQ(file.save("this model", some()), "");
  EXPECT_EQ(file.load("that model").history, plan::History{});
}

TEST_F(HistoryFileTest, EveryKeyKeepsItsOwn) {
  const HistoryFile file(path);
  ASSERT_EQ(file.save("one", some(1)), "");
  ASSERT_EQ(file.save("two", some(2)), "");
  ASSERT_EQ(file.save("one", some(3)), "");
  EXPECT_EQ(file.load("one").history, some(3));
  EXPECT_EQ(file.load("two").history, some(2));
}

TEST_F(HistoryFileTest, ThoseWrittenLongAgoGo) {
  const HistoryFile file(path);
  for (std::size_t key = 0; key <= HistoryFile::kEntries; ++key) {
    ASSERT_EQ(file.save(std::to_string(key), some()), "");
  }
  EXPECT_EQ(file.load("0").history, plan::History{});
  EXPECT_EQ(file.load("1").history, some());
}

TEST_F(HistoryFileTest, NothingOfADamagedFileIsUsed) {
  struct Case {
    std::string from;
    std::string to;
    std::string says;
  };
  const HistoryFile file(path);
  for (const Case& damage_case : {
           Case{"]", "", "it is no JSON"},
           Case{"ahead-history", "cookbook", "another format"},
           Case{"\"version\":1", "\"version\":2", "version"},
           Case{"0.75", "-0.75", "seconds"},
           Case{"0.75", "1e300", "seconds"},
           Case{"0.75", "null", "seconds"},
           Case{"0.75", "\"soon\"", "seconds"},
           Case{"\"rung\":1024", "\"rung\":0", "rung"},
           Case{"\"rung\":1024", "\"rung\":1.5", "rung"},
           Case{"\"rung\":1024", "\"rang\":1024", "rung"},
           Case{"\"attention\"", "7", "form"},
           Case{"\"attention\"", "\"" + std::string(300, 'a') + "\"", "form"},
           Case{"\"steps\"", "\"strides\"", "steps"},
           Case{"\"key\"", "\"kay\"", "key"},
       }) {
    SCOPED_TRACE(damage_case.from + " -> " + damage_case.to);
    std::filesystem::remove(path);
    ASSERT_EQ(file.save("this model", some()), "");
    damage(damage_case.from, damage_case.to);
    const auto loaded = file.load("this model");
    EXPECT_EQ(loaded.history, plan::History{});
    EXPECT_THAT(loaded.ignored, HasSubstr(damage_case.says));
    EXPECT_THAT(loaded.ignored, HasSubstr(path.string()));
  }
}

TEST_F(HistoryFileTest, NoPrefixOfAFileIsTrusted) {
  const HistoryFile file(path);
  ASSERT_EQ(file.save("this model", some()), "");
  const std::string whole = text();
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_EQ(file.load("this model").history, plan::History{}) << length;
  }
}

TEST_F(HistoryFileTest, WhatIsDamagedIsReplacedBySaving) {
  const HistoryFile file(path);
  ASSERT_EQ(file.save("this model", some(1)), "");
  const std::string whole = text();
  put(whole.substr(0, whole.size() / 2));
  EXPECT_EQ(file.save("this model", some(2)), "");
  EXPECT_EQ(file.load("this model").history, some(2));
}

TEST_F(HistoryFileTest, NothingElseIsWrittenOver) {
  for (const std::string contents : {"GGUF...", "{\"weights\": 1}", "ahead-history", " "}) {
    put(contents);
    EXPECT_THAT(HistoryFile(path).save("this model", some()), HasSubstr("is something else"));
    EXPECT_EQ(text(), contents);
  }
}

TEST_F(HistoryFileTest, ALinkStaysOne) {
  const std::filesystem::path link = folder / "link.json";
  ASSERT_EQ(HistoryFile(path).save("another", some()), "");
  std::filesystem::create_symlink(path, link);
  ASSERT_EQ(HistoryFile(link).save("this model", some()), "");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(HistoryFile(path).load("this model").history, some());
}

TEST_F(HistoryFileTest, DepthDoesNoHarm) {
  const std::size_t deep = 1'000'000;
  put("{\"format\":\"ahead-history\",\"version\":1,\"entries\":[{\"key\":\"x\",\"more\":" +
      std::string(deep, '[') + std::string(deep, ']') + "}]}");
  const HistoryFile file(path);
  EXPECT_EQ(file.load("x").history, plan::History{});
  EXPECT_EQ(file.save("x", some()), "");
  EXPECT_EQ(file.load("x").history, some());
}

TEST_F(HistoryFileTest, FullEntriesDoNotOutgrowTheFile) {
  plan::History full;
  for (std::size_t i = 1; i <= plan::History::kEntries; ++i) {
    const auto rung = static_cast<std::int64_t>(i);
    const std::vector<double> samples(plan::History::kSamples, 1.0 / 3.0);
    full.compiles_s[{"attention", "attention+body", 128, 1, rung}] = samples;
    full.steps_s[{"attention", 1, 1, rung}] = samples;
  }
  const HistoryFile file(path);
  constexpr std::size_t kMany = 8;  // one more than go into the file
  for (std::size_t key = 0; key < kMany; ++key) {
    ASSERT_EQ(file.save(std::to_string(key), full), "");
  }
  EXPECT_LE(std::filesystem::file_size(path), HistoryFile::kMostBytes);
  EXPECT_EQ(file.load("0").history, plan::History{});
  EXPECT_EQ(file.load(std::to_string(kMany - 1)).history, full);
}

TEST_F(HistoryFileTest, AFileThatIsTooLargeIsNotRead) {
  put(std::string(HistoryFile::kMostBytes + 1, ' '));
  EXPECT_THAT(HistoryFile(path).load("this model").ignored, HasSubstr("larger"));
}

TEST_F(HistoryFileTest, AFolderInItsPlaceIsToldOf) {
  std::filesystem::create_directories(path / "in the way");
  const HistoryFile file(path);
  EXPECT_THAT(file.load("this model").ignored, HasSubstr("no regular file"));
  EXPECT_THAT(file.save("this model", some()), HasSubstr("is not kept"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1);
}

/// For its life no file of this process grows beyond `bytes`, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST_F(HistoryFileTest, AFullDiskLosesNothing) {
  const HistoryFile file(path);
  ASSERT_EQ(file.save("this model", some(1)), "");
  {
    const FullDisk full(64);
    EXPECT_THAT(file.save("this model", some(2)), HasSubstr("is not kept"));
  }
  EXPECT_EQ(file.load("this model").history, some(1));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1);
}

}  // namespace
}  // namespace ahead::api
