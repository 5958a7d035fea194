// A small GGUF file, written out here, cut at every byte and altered at every bit: it is read or
// refused in one line, and never crashes.
#include "model/gguf_header.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ahead/error.h"

namespace ahead::model {
namespace {

namespace fs = std::filesystem;

/// Little-endian bytes of GGUF's parts.
class Writer {
 public:
  template <typename T>
  Writer& number(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFFU);
    }
    return *this;
  }
  Writer& text(const std::string& value) {
    number<std::uint64_t>(value.size());
    bytes_ += value;
    return *this;
  }
  Writer& key(const std::string& name, std::uint32_t type) { return text(name).number(type); }
  Writer& zeros_to(std::size_t multiple) {
    while (bytes_.size() % multiple != 0) bytes_ += '\0';
    return *this;
  }
  Writer& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Every type of metadata, arrays of strings and of arrays, a plain and a quantised tensor.
std::string small_file() {
  Writer out;
  out.number<std::uint32_t>(0x46554747).number<std::uint32_t>(3);
  out.number<std::uint64_t>(2).number<std::uint64_t>(17);
  out.key("general.architecture", 8).text("toy");
  out.key("toy.context_length", 4).number<std::uint32_t>(256);
  out.key("general.alignment", 4).number<std::uint32_t>(32);
  out.key("a", 0).number<std::uint8_t>(255);
  out.key("b", 1).number<std::int8_t>(-1);
  out.key("c", 2).number<std::uint16_t>(65535);
  out.key("d", 3).number<std::int16_t>(-2);
  out.key("e", 5).number<std::int32_t>(-3);
  out.key("f", 6).number<std::uint32_t>(0x3F800000);
  out.key("g", 7).number<std::uint8_t>(1);
  out.key("h", 10).number<std::uint64_t>(std::numeric_limits<std::uint64_t>::max());
  out.key("i", 11).number<std::int64_t>(-4);
  out.key("j", 12).number<std::uint64_t>(0x3FF0000000000000);
  out.key("k", 9).number<std::uint32_t>(8).number<std::uint64_t>(3);
  out.text("x").text("").text("yz");
  out.key("l", 9).number<std::uint32_t>(5).number<std::uint64_t>(4);
  for (std::int32_t i = 0; i < 4; ++i) out.number<std::int32_t>(i);
  out.key("m", 9).number<std::uint32_t>(9).number<std::uint64_t>(2);
  for (int i = 0; i < 2; ++i) {
    out.number<std::uint32_t>(0).number<std::uint64_t>(3).zeros(3);
  }
  out.key("n", 9).number<std::uint32_t>(4).number<std::uint64_t>(0);
  // f32 [4, 2] at 0, Q4_1 [32] at 32.
  out.text("plain").number<std::uint32_t>(2).number<std::uint64_t>(4).number<std::uint64_t>(2);
  out.number<std::uint32_t>(0).number<std::uint64_t>(0);
  out.text("quantised").number<std::uint32_t>(1).number<std::uint64_t>(32);
  out.number<std::uint32_t>(3).number<std::uint64_t>(32);
  return out.zeros_to(32).zeros(32 + 20).bytes();
}

class GgufHeaderTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(testing::TempDir()) /
            ("ahead-header-" + std::to_string(std::random_device{}()) + ".gguf");
  }
  void TearDown() override { fs::remove(path_); }

  /// "" when `bytes` are read, else the refusal, which must be one short line.
  [[nodiscard]] std::string refusal(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      (void)read_gguf_header(path_.string());
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_NE(text.find(path_.string()), std::string::npos) << text;
      EXPECT_LT(text.size(), 600U);
      return text;
    }
    return "";
  }

  fs::path path_;
};

TEST_F(GgufHeaderTest, AWholeFileIsRead) {
  ASSERT_EQ(refusal(small_file()), "");
  const GgufHeader header = read_gguf_header(path_.string());
  EXPECT_EQ(header.version, 3U);
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.architecture(), "toy");
  EXPECT_EQ(header.of_architecture("context_length"), 256);
  EXPECT_EQ(header.integers.at("a"), 255);
  EXPECT_EQ(header.integers.at("b"), -1);
  EXPECT_EQ(header.integers.at("d"), -2);
  EXPECT_EQ(header.integers.at("i"), -4);
  EXPECT_EQ(header.integers.count("j"), 0U);
  EXPECT_EQ(header.number("j"), 1.0);
  EXPECT_EQ(header.number("f"), 1.0);
  EXPECT_EQ(header.number("toy.context_length"), 256.0);
  EXPECT_EQ(header.number("k"), std::nullopt);
  EXPECT_EQ(header.types.at("h"), GgufType::kUint64);
  EXPECT_EQ(header.arrays.at("m").type, GgufType::kArray);
  EXPECT_EQ(header.arrays.at("n").count, 0U);
  EXPECT_EQ(header.arrays.at("l").same, std::nullopt);
  EXPECT_EQ(header.tensors[0].name, "plain");
  EXPECT_EQ(header.tensors[0].elements, 8U);
  EXPECT_EQ(header.tensors[1].type, 3U);
}

TEST_F(GgufHeaderTest, AFileCutAtAnyByteIsRefused) {
  const std::string whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_NE(refusal(whole.substr(0, size)), "") << "cut at byte " << size;
  }
}

TEST_F(GgufHeaderTest, AFileWithAnyBitTurnedIsReadOrRefused) {
  const std::string whole = small_file();
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string altered = whole;
    altered[bit / 8] = static_cast<char>(altered[bit / 8] ^ (1 << (bit % 8)));
    if (!refusal(altered).empty()) ++refused;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, whole.size() * 8);
}

TEST_F(GgufHeaderTest, AFileWithRandomBytesIsReadOrRefused) {
  const std::string whole = small_file();
  std::mt19937_64 random(20261129);
  for (int i = 0; i < 3000; ++i) {
    std::string altered = whole;
    for (int change = 0; change < 4; ++change) {
      // All ones among them: the largest lengths and counts.
      altered[random() % altered.size()] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
    }
    (void)refusal(altered);
  }
}

TEST_F(GgufHeaderTest, HostileCountsAreRefusedBeforeTheyCostAnything) {
  const auto begin = [](std::uint64_t tensors, std::uint64_t metadata) {
    Writer out;
    out.number<std::uint32_t>(0x46554747).number<std::uint32_t>(3);
    out.number(tensors).number(metadata);
    return out;
  };
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_NE(refusal(begin(kHuge, 0).bytes()), "");
  EXPECT_NE(refusal(begin(0, kHuge).bytes()), "");
  for (const std::uint64_t length : {kHuge, kHuge / 2, std::uint64_t{1} << 24}) {
    EXPECT_NE(refusal(begin(0, 1).number(length).bytes()), "") << length;
    for (const std::uint32_t type : {0U, 4U, 8U, 9U, 12U}) {
      EXPECT_NE(refusal(begin(0, 1).key("k", 9).number(type).number(length).bytes()), "") << length;
    }
  }
  Writer deep = begin(0, 1);
  deep.key("k", 9);
  for (int i = 0; i < 100'000; ++i) deep.number<std::uint32_t>(9).number<std::uint64_t>(1);
  EXPECT_NE(refusal(deep.bytes()).find("nested too deeply"), std::string::npos);
}

TEST_F(GgufHeaderTest, AnArchitecturesNameIsFitForAMessage) {
  Writer out;
  out.number<std::uint32_t>(0x46554747).number<std::uint32_t>(3);
  out.number<std::uint64_t>(0).number<std::uint64_t>(1);
  out.key("general.architecture", 8).text("toy\n" + std::string(100'000, 'x'));
  ASSERT_EQ(refusal(out.zeros_to(32).bytes()), "");
  const std::string name = read_gguf_header(path_.string()).architecture();
  EXPECT_TRUE(name.starts_with("toy xxx")) << name;
  EXPECT_LT(name.size(), 80U);
}

TEST_F(GgufHeaderTest, ATensorsNameCannotBreakTheMessage) {
  Writer out;
  out.number<std::uint32_t>(0x46554747).number<std::uint32_t>(3);
  out.number<std::uint64_t>(1).number<std::uint64_t>(0);
  out.text(std::string(100'000, '\n')).number<std::uint32_t>(9);
  EXPECT_NE(refusal(out.bytes()).find("9 dimensions"), std::string::npos);
}

TEST_F(GgufHeaderTest, TheRotationsFactorsAreRead) {
  Writer out;
  out.number<std::uint32_t>(0x46554747).number<std::uint32_t>(3);
  out.number<std::uint64_t>(2).number<std::uint64_t>(0);
  for (const char* name : {"plain", "rope_freqs.weight"}) {
    out.text(name).number<std::uint32_t>(1).number<std::uint64_t>(2);
    out.number<std::uint32_t>(0).number<std::uint64_t>(*name == 'p' ? 0 : 32);
  }
  out.zeros_to(32).zeros(32).number<std::uint32_t>(0x3F800000).number<std::uint32_t>(0x41000000);
  ASSERT_EQ(refusal(out.bytes()), "");
  const GgufHeader header = read_gguf_header(path_.string());
  ASSERT_EQ(header.rope_factors.size(), 1U);
  EXPECT_EQ(header.rope_factors.at("rope_freqs.weight"), (std::vector<float>{1.0F, 8.0F}));
}

TEST_F(GgufHeaderTest, FilesThatAreSomethingElseAreNamed) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {std::string("GGUF\0\0\0\3", 8), "other byte order"},
      {std::string("GGUF\1\0\0\0", 8), "version 1"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {"<!doctype html>", "web page"},
      {"", "empty"},
      {std::string(5000, '\0'), "zero bytes"},
  };
  for (const auto& [bytes, word] : rows) {
    const std::string text = refusal(bytes);
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST_F(GgufHeaderTest, APipeIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  try {
    (void)read_gguf_header(path_.string());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no file"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ahead::model
