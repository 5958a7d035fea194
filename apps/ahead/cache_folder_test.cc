// Where the history goes by the environment. May use: std, GoogleTest.
#include "cache_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ahead::cli {
namespace {

class CacheFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
  }
};

TEST_F(CacheFolderTest, IsTheOneThatIsNamed) {
  setenv("XDG_CACHE_HOME", "/var/tmp/caches", 1);
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(default_history(), "/var/tmp/caches/ahead/history.json");
}

TEST_F(CacheFolderTest, IsAtHomeWhereNoneIsNamed) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(default_history(), "/home/someone/.cache/ahead/history.json");
}

TEST_F(CacheFolderTest, APathThatIsNotAbsoluteIsIgnored) {
  setenv("XDG_CACHE_HOME", "caches", 1);
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(default_history(), "/home/someone/.cache/ahead/history.json");
}

TEST_F(CacheFolderTest, WithoutAHomeThereIsNone) { EXPECT_EQ(default_history(), ""); }

}  // namespace
}  // namespace ahead::cli
