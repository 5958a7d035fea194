// A mapped file that is cut short under its reader.
#include "base/mapped_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

namespace fs = std::filesystem;

TEST(MappedFiles, WhatIsGoneReadsAsZeroesAndIsToldByName) {
  const fs::path path =
      fs::path(testing::TempDir()) / ("ahead-mapped-" + std::to_string(std::random_device{}()));
  constexpr std::size_t kBytes = 1 << 20;
  std::ofstream(path) << std::string(kBytes, 'x');
  const auto file = std::make_shared<const InputFile>(path.string());
  watch_mapped(file);
  if (!mapped_is_watched()) GTEST_SKIP() << "somebody else handles the signal";
  const void* const mapped = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto* const bytes = static_cast<const volatile char*>(mapped);
  EXPECT_EQ(bytes[kBytes - 1], 'x');
  EXPECT_NO_THROW(check_mapped());

  fs::resize_file(path, 10);
  EXPECT_EQ(bytes[kBytes - 1], '\0');
  EXPECT_EQ(bytes[kBytes / 2], '\0');
  EXPECT_EQ(bytes[0], 'x');
  try {
    check_mapped();
    FAIL() << "not told";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(error.what()).find(path.filename().string() + "' was cut short"),
              std::string::npos)
        << error.what();
  }
  munmap(const_cast<void*>(mapped), kBytes);
  fs::remove(path);
}

}  // namespace
}  // namespace ahead
