// A file that is removed, replaced or written to behind its reader's back.
#include "base/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "ahead/error.h"
#include "base/sha256.h"

namespace ahead {
namespace {

namespace fs = std::filesystem;

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write("first");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  static std::string refusal(const std::string& path) {
    try {
      const InputFile file(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
      return error.what();
    }
    return "";
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("ahead-input-" + std::to_string(std::random_device{}()));
  const std::string path_ = (folder_ / "file").string();
};

TEST_F(InputFileTest, ReadsAtAPlaceAndLessAtTheEnd) {
  const InputFile file(path_);
  EXPECT_EQ(file.size(), 5U);
  EXPECT_EQ(file.read({.at = 1, .bytes = 3}), "irs");
  EXPECT_EQ(file.read({.at = 3, .bytes = 100}), "st");
  EXPECT_EQ(file.read({.at = 100, .bytes = 1}), "");
}

TEST_F(InputFileTest, ARemovedFileIsStillTheOneThatWasOpened) {
  const InputFile file(path_);
  const std::string before = sha256_of(file);
  fs::remove(path_);
  EXPECT_TRUE(file.unchanged());
  EXPECT_FALSE(file.is_at(path_));
  EXPECT_EQ(sha256_of(file), before);
}

TEST_F(InputFileTest, AReplacedFileIsStillTheOneThatWasOpened) {
  const InputFile file(path_);
  const std::string before = sha256_of(file);
  EXPECT_TRUE(file.is_at(path_));
  std::ofstream(folder_ / "other") << "other";
  fs::rename(folder_ / "other", path_);
  EXPECT_TRUE(file.unchanged());
  EXPECT_FALSE(file.is_at(path_));
  EXPECT_EQ(sha256_of(file), before);
}

TEST_F(InputFileTest, AFileThatWasWrittenToHasNoChecksumAnyMore) {
  const InputFile file(path_);
  write("second, and longer");
  EXPECT_FALSE(file.unchanged());
  try {
    (void)sha256_of(file);
    FAIL() << "hashed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(error.what()).find("file'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("changed"), std::string::npos) << error.what();
  }
}

TEST_F(InputFileTest, TheChecksumIsSha256) {
  write("abc");
  EXPECT_EQ(sha256_of(InputFile(path_)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(InputFileTest, WhatIsNoFileIsRefusedAtOnce) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refusal(pipe).find("a pipe"), std::string::npos);
  EXPECT_NE(refusal(folder_.string()).find("a folder"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero").find("a device"), std::string::npos);
  EXPECT_NE(refusal((folder_ / "none").string()).find("no such file"), std::string::npos);
  EXPECT_NE(refusal((folder_ / "a\nb").string()).find("a b'"), std::string::npos);
}

}  // namespace
}  // namespace ahead
