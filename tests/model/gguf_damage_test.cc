// A GGUF file that is cut anywhere, or altered, ends in one clear error and never in a crash.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "ahead/error.h"
#include "ahead/llm_pipeline.h"
#include "model/gguf_header.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

namespace fs = std::filesystem;

/// A private copy that goes with the test.
class Copy {
 public:
  explicit Copy(const std::string& original)
      : path_(fs::temp_directory_path() /
              ("ahead-damage-" + std::to_string(std::random_device{}()) + ".gguf")) {
    fs::copy_file(original, path_);
  }
  ~Copy() { fs::remove(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

void expect_invalid(const fs::path& path, std::uintmax_t size) {
  try {
    (void)model::read_gguf_header(path.string());
    FAIL() << "a file cut at byte " << size << " was taken for whole";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
    const std::string text = error.what();
    EXPECT_NE(text.find(path.string()), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(GgufDamage, AFileCutAtAnyOf260BytesIsRefusedClearly) {
  const Copy copy(qwen2_gguf());  // its header is read in no time; the real model's is cut below
  const auto whole = fs::file_size(copy.path());
  ASSERT_NO_THROW((void)model::read_gguf_header(copy.path().string()));
  std::vector<std::uintmax_t> cuts;
  for (std::uintmax_t i = 0; i < 60; ++i) cuts.push_back(whole - 1 - i * (whole / 60));
  for (std::uintmax_t i = 0; i < 130; ++i) cuts.push_back(13'000 - i * 100);
  for (std::uintmax_t i = 0; i < 70; ++i) cuts.push_back(i * 3);
  std::sort(cuts.rbegin(), cuts.rend());
  ASSERT_GE(cuts.size(), 260U);
  for (const std::uintmax_t size : cuts) {  // from the end: one copy serves all
    fs::resize_file(copy.path(), size);
    expect_invalid(copy.path(), size);
  }
}

TEST(GgufDamage, ACutFileIsRefusedByThePublicApi) {
  const Copy copy(smollm2_gguf());
  for (const std::uintmax_t size : {90'000'000U, 3'000'000U, 100U, 0U}) {
    fs::resize_file(copy.path(), size);
    EXPECT_THROW(Model{copy.path().string()}, Error) << size;
  }
}

TEST(GgufDamage, AlteredHeadersLoadOrAreRefusedButNeverCrash) {
  std::mt19937_64 random(20261129);
  std::ifstream file(qwen2_gguf(), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  const Copy copy(qwen2_gguf());
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<char> altered = bytes;
    for (int flip = 0; flip < 3; ++flip) {
      altered[random() % std::min<std::size_t>(bytes.size(), 12'000)] ^=
          static_cast<char>(1U << (random() % 8));
    }
    std::ofstream(copy.path(), std::ios::binary).write(altered.data(), std::ssize(altered));
    try {
      const Model model(copy.path().string());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace ahead::test
