// Beginnings of files as people meet them.
#include "model/file_kind.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ahead::model {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

std::string padded(std::string text, std::size_t size) {
  text.resize(size, '\0');
  return text;
}

std::string tar() { return padded("a.gguf", 257) + "ustar\0 rest"s; }

struct Row {
  std::string beginning;
  FileKind kind;
};

std::vector<Row> rows() {
  return {
      {"GGUF\3\0\0\0"s + std::string(16, '\1'), FileKind::kGguf},
      {"GGUF\2\0\0\0", FileKind::kGguf},
      {"GGUF\1\0\0\0"s, FileKind::kGguf},
      {"GGUF", FileKind::kGguf},
      {"GGUF\0\0\0\3"s, FileKind::kGgufOtherOrder},
      {"FUGG\0\0\0\3"s, FileKind::kGgufOtherOrder},
      {"lmgg\0\0"s, FileKind::kGgml},
      {"fmgg\1\0\0\0"s, FileKind::kGgml},
      {"tjgg\3\0\0\0"s, FileKind::kGgml},
      {"algg\1\0\0\0"s, FileKind::kGgml},
      {"", FileKind::kEmpty},
      {std::string(4096, '\0'), FileKind::kZeros},
      {std::string(1, '\0'), FileKind::kZeros},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
       FileKind::kLfsPointer},
      {"# xet version 0\n", FileKind::kXetPointer},
      {"/annex/objects/SHA256E-s9--00.gguf\n", FileKind::kAnnexPointer},
      {"<!DOCTYPE html>\n<html>", FileKind::kHtml},
      {"\n  <HTML lang=\"en\">", FileKind::kHtml},
      {"\xEF\xBB\xBF<html>", FileKind::kHtml},
      {"<?xml version=\"1.0\"?>\n<!DOCTYPE html><html>", FileKind::kHtml},
      {"<?xml version=\"1.0\"?>\n<net name=\"Model0\" version=\"11\">", FileKind::kGraph},
      {"<net name=\"Model0\" version=\"11\">", FileKind::kGraph},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", FileKind::kXml},
      {"\x14\0\0\0\0\0\0\0{\"__metadata__\":{}}  "s, FileKind::kSafetensors},
      {"\x80\x02}q\1X"s, FileKind::kTorch},
      {"\x80\x04\x95\x10\0\0\0\0\0\0\0"s, FileKind::kTorch},
      {"PK\3\4\0\0\0\0archive/data.pkl"s, FileKind::kTorch},
      {"PK\3\4\0\0\0\0model.gguf"s, FileKind::kZip},
      {"\x08\x07\x12\x07pytorch"s, FileKind::kOnnx},
      {"\x89HDF\r\n\x1A\n"s, FileKind::kHdf5},
      {"\x1C\0\0\0TFL3"s, FileKind::kTflite},
      {"\x1F\x8B\x08\0"s, FileKind::kGzip},
      {"\x28\xB5\x2F\xFD\x04", FileKind::kZstd},
      {"\xFD\x37zXZ\0\0"s, FileKind::kXz},
      {"BZh91AY", FileKind::kBzip2},
      {"7z\xBC\xAF\x27\x1C", FileKind::kSevenZip},
      {tar(), FileKind::kTar},
      {"{\"metadata\": {\"total_size\": 9}, \"weight_map\": {}}", FileKind::kIndex},
      {"{\"schemaVersion\":2,\"mediaType\":\"application/vnd\"}", FileKind::kManifest},
      {"{\"error\":\"Repository not found\"}", FileKind::kJson},
      {"[1, 2]", FileKind::kJson},
      {"Entry not found", FileKind::kText},
      {"Acc\xC3\xA8s refus\xC3", FileKind::kText},
      {"\x7F"s + "ELF\2\1\1", FileKind::kUnknown},
      {"\xDE\xAD\xBE\xEF", FileKind::kUnknown},
  };
}

TEST(FileKind, IsToldByTheFirstBytes) {
  for (const Row& row : rows()) {
    EXPECT_EQ(static_cast<int>(kind_of(row.beginning, row.beginning.size())),
              static_cast<int>(row.kind))
        << row.beginning.substr(0, 40);
  }
}

TEST(FileKind, EveryKindButGgufIsNamedWithWhatToDo) {
  std::map<std::string, FileKind> seen;
  for (int i = 0; i <= static_cast<int>(FileKind::kUnknown); ++i) {
    const auto kind = static_cast<FileKind>(i);
    const std::string words = words_of(kind);
    if (kind == FileKind::kGguf) {
      EXPECT_EQ(words, "");
      continue;
    }
    EXPECT_NE(words.find("; "), std::string::npos) << words;
    EXPECT_TRUE(seen.emplace(words, kind).second) << words;
  }
}

TEST(FileKind, ALengthThatTheFileHasNotMakesNoSafetensors) {
  EXPECT_NE(kind_of("\xFF\xFF\0\0\0\0\0\0{\"a\":1}"s, 16), FileKind::kSafetensors);
  EXPECT_EQ(kind_of("\xFF\xFF\0\0\0\0\0\0{\"a\":1}"s, 1 << 20), FileKind::kSafetensors);
}

TEST(FileKind, AnyBeginningIsSomeKind) {
  std::mt19937_64 random(20261130);
  const std::vector<Row> all = rows();
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = all[random() % all.size()].beginning;
    for (int change = 0; change < 3 && !bytes.empty(); ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(bytes.empty() ? 0 : random() % bytes.size());
    (void)kind_of(bytes, bytes.size() + random() % 3);
  }
}

TEST(FileKind, WhatAServerAnsweredInsteadOfTheFileIsShown) {
  const fs::path path = fs::path(testing::TempDir()) /
                        ("ahead-kind-" + std::to_string(std::random_device{}()) + ".gguf");
  std::ofstream(path) << "Invalid username or\tpassword.\n";
  const Error error = no_model(InputFile(path.string()));
  fs::remove(path);
  const std::string text = error.what();
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
  EXPECT_NE(text.find(".gguf' is "), std::string::npos) << text;
  EXPECT_NE(text.find("'Invalid username or password.'"), std::string::npos) << text;
}

}  // namespace
}  // namespace ahead::model
