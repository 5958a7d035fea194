// Links that stand for a file under another name, where folders can be written and where not.
#include "model/suffixed_name.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "ahead/error.h"

namespace ahead::model {
namespace {

namespace fs = std::filesystem;

class SuffixedNameTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const {
    std::ofstream(folder_ / name) << "bytes of " << name;
    return (folder_ / name).string();
  }
  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  [[nodiscard]] SuffixedName::Options in(const fs::path& folder) const {
    return {.suffix = ".gguf", .folders = {folder_ / "nowhere", "/dev/null", folder}};
  }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("ahead-name-" + std::to_string(std::random_device{}()));
};

TEST_F(SuffixedNameTest, ANameThatFitsIsUsedAsItIs) {
  const InputFile opened(file("a.gguf"));
  const SuffixedName name(opened, in(folder_));
  EXPECT_EQ(name.path(), opened.path());
  EXPECT_EQ(entries(), 1U);
}

TEST_F(SuffixedNameTest, OtherNamesGetALinkThatGoesWithIt) {
  for (const std::string given :
       {"sha256-2b1e", "model.GGUF", "model.gguf?download=true", ".gguf", "\xFF\xFE", "a\nb"}) {
    const InputFile opened(file(given));
    {
      const SuffixedName name(opened, in(folder_));
      EXPECT_EQ(name.path().extension(), ".gguf");
      EXPECT_EQ(read(name.path()), "bytes of " + given);
      EXPECT_EQ(entries(), 2U);
    }
    EXPECT_EQ(entries(), 1U);
    fs::remove(opened.path());
  }
}

TEST_F(SuffixedNameTest, AFileThatWasReplacedSinceIsStillTheOneThatWasOpened) {
  const InputFile opened(file("a.gguf"));
  fs::rename(file("b"), folder_ / "a.gguf");
  const SuffixedName name(opened, in(folder_));
  EXPECT_EQ(read(name.path()), "bytes of a.gguf");
}

TEST_F(SuffixedNameTest, WhereNoFolderCanBeWrittenItSaysWhatToDo) {
  const InputFile opened(file("blob"));
  try {
    const SuffixedName name(opened, {.suffix = ".gguf", .folders = {folder_ / "nowhere"}});
    FAIL() << "made " << name.path();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(error.what()).find("blob'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos) << error.what();
  }
}

TEST_F(SuffixedNameTest, AFileInTheCurrentFolderIsBesideItself) {
  const InputFile opened(file("blob"));
  const auto folders = folders_for_links(opened);
  EXPECT_NE(std::find(folders.begin(), folders.end(), folder_), folders.end());
  EXPECT_EQ(folders.back(), ".");
}

}  // namespace
}  // namespace ahead::model
