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
  for (std::size_t at = bytes.find("qwen2"); at != std::string::npos;
       at = bytes.find("qwen2", at)) {
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

TEST(Refusal, APathThatCannotBeFollowedIsAnError) {
  const fs::path loop = fs::temp_directory_path() / "ahead-loop";
  fs::remove(loop);
  fs::create_symlink(loop, loop);
  EXPECT_NE(refusal(loop, ErrorKind::kInvalidModel).find("ahead-loop"), std::string::npos);
  fs::remove(loop);
  refusal(fs::path("/tmp") / std::string(5'000, 'x'), ErrorKind::kInvalidModel);
  refusal(std::string(1'000, 'y'), ErrorKind::kInvalidModel);
  refusal("", ErrorKind::kInvalidModel);
  refusal("/dev/zero", ErrorKind::kInvalidModel);
}

/// An IR folder without a copy of the weights.
class IrFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& file : fs::directory_iterator(smollm2_ir())) {
      if (file.path().filename() == "config.json") continue;
      fs::create_symlink(fs::absolute(file.path()), folder_ / file.path().filename());
    }
  }
  void TearDown() override { fs::remove_all(folder_); }
  void config(const std::string& text) const { std::ofstream(folder_ / "config.json") << text; }

  const fs::path folder_ = fs::temp_directory_path() / "ahead-ir-folder";
};

TEST_F(IrFolder, ATrainedContextThatNoModelHasIsUnknown) {
  for (const char* context : {"-1", "0", "2147483649", "18446744073709551615", "1e9", "\"8192\""}) {
    config(std::string(R"({"model_type": "llama", "max_position_embeddings": )") + context + "}");
    EXPECT_EQ(Model(folder_.string()).facts().trained_context, 0) << context;
  }
}

TEST_F(IrFolder, TheTrainedContextMayStandInTextConfig) {
  config(R"({"text_config": {"max_position_embeddings": 4096}})");
  EXPECT_EQ(Model(folder_.string(), {.unverified = true}).facts().trained_context, 4096);
}

TEST_F(IrFolder, AnArchitectureThatNothingShowsRightRunsOnlyUnverified) {
  config(R"({"model_type": "unheard-of"})");
  const std::string text = refusal(folder_, ErrorKind::kUnsupportedModel);
  EXPECT_NE(text.find("'unheard-of'"), std::string::npos) << text;
  EXPECT_NE(text.find("--unverified"), std::string::npos) << text;
  const Model model(folder_.string(), {.unverified = true});
  EXPECT_EQ(model.facts().verified_by, "");
  config(R"({"model_type": "llama"})");
  EXPECT_NE(Model(folder_.string()).facts().verified_by, "");
}

TEST_F(IrFolder, AConfigurationNestedWithoutEndIsPassedOver) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  config(R"({"x": )" + open + close + R"(, "max_position_embeddings": 512})");
  EXPECT_EQ(Model(folder_.string(), {.unverified = true}).facts().trained_context, 512);
  config(open);
  EXPECT_NE(refusal(folder_, ErrorKind::kInvalidModel).find("config.json"), std::string::npos);
}

TEST_F(IrFolder, AGraphThatIsNoDecoderIsAnError) {
  // The tokenizer's graph is a valid IR, of operations nobody registered.
  fs::remove(folder_ / "openvino_model.xml");
  fs::remove(folder_ / "openvino_model.bin");
  fs::copy_file(folder_ / "openvino_detokenizer.xml", folder_ / "openvino_model.xml");
  fs::copy_file(folder_ / "openvino_detokenizer.bin", folder_ / "openvino_model.bin");
  EXPECT_THROW(Model{folder_.string()}, Error);
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
