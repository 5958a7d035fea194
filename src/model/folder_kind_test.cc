// Folders as people give them.
#include "model/folder_kind.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace ahead::model {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::vector<std::string> files;  ///< "gguf" in a file's name: it begins as such a file
  std::vector<std::string> words;  ///< of the refusal
};

class FolderKindTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  void fill(const Row& row) const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const std::string& file : row.files) {
      fs::create_directories((folder_ / file).parent_path());
      std::ofstream(folder_ / file) << (file.find("gguf") == std::string::npos ? "x" : "GGUF");
    }
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("ahead-folder-" + std::to_string(std::random_device{}()));
};

TEST_F(FolderKindTest, SaysWhatIsInItAndWhatToGive) {
  const std::vector<Row> rows = {
      {{}, {"is empty"}},
      {{"README.md"}, {"openvino_model.xml is missing"}},
      {{"a-gguf-blob", "README.md"}, {"GGUF files", "give the file itself: 'a-gguf-blob'"}},
      {{"1.gguf", "2.gguf", "3.gguf", "4.gguf", "5.gguf"}, {"'3.gguf' and 2 more"}},
      {{"config.json", "model.safetensors"}, {"safetensors", "optimum-cli"}},
      {{"config.json", "pytorch_model.bin"}, {"PyTorch", "optimum-cli"}},
      {{"onnx.onnx"}, {"ONNX", "optimum-cli"}},
      {{"ov/openvino_model.xml", "model.safetensors"}, {"give that: 'ov'"}},
      {{"blobs/x", "snapshots/1/model.safetensors"}, {"'snapshots'"}},
      {{"openvino_language_model.xml", "openvino_tokenizer.xml"},
       {"'openvino_language_model.xml'", "for text generation"}},
  };
  for (const Row& row : rows) {
    fill(row);
    EXPECT_FALSE(has_ir(folder_));
    const Error error = no_ir_folder(folder_);
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_NE(text.find(folder_.filename().string()), std::string::npos) << text;
    for (const std::string& word : row.words) {
      EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
    }
  }
}

TEST_F(FolderKindTest, AGraphMayBeALink) {
  fill({{"blobs/1"}, {}});
  fs::create_symlink("blobs/1", folder_ / "openvino_model.xml");
  EXPECT_TRUE(has_ir(folder_));
}

}  // namespace
}  // namespace ahead::model
