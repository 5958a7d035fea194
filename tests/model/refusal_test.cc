// Models that cannot be run are refused by name, from files as users meet them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ahead/error.h"
#include "ahead/llm_pipeline.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& path, ErrorKind kind) {
  try {
    const Model model(path.string());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << path << " was not refused";
  return "";
}

TEST(Refusal, AnUnknownArchitectureIsNamed) {
  std::ifstream file(qwen2_gguf(), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (std::size_t at = bytes.find("qwen2"); at != std::string::npos; at = bytes.find("qwen2", at)) {
    bytes.replace(at, 5, "qwenX");
  }
  const fs::path altered = fs::temp_directory_path() / "ahead-unknown-architecture.gguf";
  std::ofstream(altered, std::ios::binary) << bytes;
  const std::string text = refusal(altered, ErrorKind::kUnsupportedModel);
  EXPECT_NE(text.find("'qwenX'"), std::string::npos) << text;
  fs::remove(altered);
}

TEST(Refusal, AMissingFileIsNamed) {
  const std::string text = refusal("/nowhere/model.gguf", ErrorKind::kInvalidModel);
  EXPECT_NE(text.find("/nowhere/model.gguf"), std::string::npos) << text;
}

TEST(Refusal, AFolderWithoutWeightsNamesTheFile) {
  const fs::path folder = fs::temp_directory_path() / "ahead-ir-without-weights";
  fs::create_directories(folder);
  fs::copy_file(fs::path(smollm2_ir()) / "openvino_model.xml", folder / "openvino_model.xml",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal(folder, ErrorKind::kInvalidModel).find("openvino_model.bin"),
            std::string::npos);
  // Weights that are there but cut short are refused too, not read beyond their end.
  fs::copy_file(fs::path(smollm2_ir()) / "openvino_model.bin", folder / "openvino_model.bin",
                fs::copy_options::overwrite_existing);
  fs::resize_file(folder / "openvino_model.bin", 1'000'000);
  refusal(folder, ErrorKind::kInvalidModel);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ahead::test
