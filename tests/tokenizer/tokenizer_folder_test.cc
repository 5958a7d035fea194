// Tokenizers of IR folders that do more, or less, than Tokenizer promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <openvino/core/graph_util.hpp>
#include <openvino/op/assign.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/read_value.hpp>
#include <openvino/op/select.hpp>
#include <openvino/runtime/core.hpp>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "text/ir_tokenizer.h"
#include "text/node_factory.h"
#include "tokenizer_fixture.h"

namespace ahead::text {
namespace {

using testing::ElementsAre;

/// A copy of the IR folder's tokenizer files that goes away with the test.
class TokenizerFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("ahead-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (const char* stem : {"openvino_tokenizer", "openvino_detokenizer"}) {
      for (const char* extension : {".xml", ".bin"}) {
        const std::string name = std::string(stem) + extension;
        std::filesystem::copy_file(ir_folder() / name, folder_ / name);
      }
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
  }

  std::filesystem::path folder_;
};

// <|endoftext|>, number 0, is an end by its name, named or not.
TEST_F(TokenizerFolder, EndTokensOfAllFilesAreUnited) {
  EXPECT_THAT(make_ir_tokenizer(folder_)->end_tokens(), ElementsAre(2, 0));
  write("generation_config.json", R"({"eos_token_id": [2, 0]})");
  write("config.json", R"({"eos_token_id": 7, "x": 1})");
  EXPECT_THAT(make_ir_tokenizer(folder_)->end_tokens(), ElementsAre(2, 0, 7));
  write("generation_config.json", R"({"eos_token_id": 7})");
  EXPECT_THAT(make_ir_tokenizer(folder_)->end_tokens(), ElementsAre(2, 7, 0));
}

TEST_F(TokenizerFolder, AFileAsPythonWritesItIsRead) {
  write("config.json", R"({"time_step_limit": [0.0, Infinity], "x": NaN, "eos_token_id": 9})");
  EXPECT_THAT(make_ir_tokenizer(folder_)->end_tokens(), ElementsAre(2, 9, 0));
  write("config.json", "{\"eos_token_id\": 9,\n  x}");
  expect_error(ErrorKind::kInvalidModel, "line 2, column 3",
               [&] { (void)make_ir_tokenizer(folder_); });
}

TEST_F(TokenizerFolder, BrokenFilesAreRefused) {
  for (const char* content :
       {"", "[1]", "{", R"({"eos_token_id": "x"})", R"({"eos_token_id": [1.5]})",
        R"({"eos_token_id": -1})", R"({"eos_token_id": 4294967296})"}) {
    write("config.json", content);
    expect_error(ErrorKind::kInvalidModel, "config.json",
                 [&] { (void)make_ir_tokenizer(folder_); });
  }
  write("config.json", R"({"eos_token_id": null})");
  EXPECT_NO_THROW((void)make_ir_tokenizer(folder_));
  write("openvino_detokenizer.xml", "<net");
  expect_error(ErrorKind::kInvalidModel, "openvino_detokenizer.xml",
               [&] { (void)make_ir_tokenizer(folder_); });
  std::filesystem::remove(folder_ / "openvino_tokenizer.xml");
  expect_error(ErrorKind::kInvalidModel, "openvino_tokenizer.xml' is missing",
               [&] { (void)make_ir_tokenizer(folder_); });
}

TEST_F(TokenizerFolder, EndTokensNestedWithoutEndAreRefusedNotFollowed) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  for (const std::string& content :
       {R"({"eos_token_id": )" + open + close + "}", R"({"eos_token_id": [)" + open + close + "]}",
        R"({"eos_token_id": [2, {"a": )" + open + close + "}]}",
        R"({"eos_token_id": ")" + std::string(1'000'000, 'x') + "\"}"}) {
    write("generation_config.json", content);
    try {
      (void)make_ir_tokenizer(folder_);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
      EXPECT_THAT(error.what(), testing::HasSubstr("eos_token_id"));
      EXPECT_LT(std::string(error.what()).size(), 400U);
    }
  }
  // Where it is nobody's business it does no harm.
  write("generation_config.json", R"({"x": )" + open + close + R"(, "eos_token_id": 5})");
  EXPECT_THAT(make_ir_tokenizer(folder_)->end_tokens(), ElementsAre(2, 5, 0));
}

TEST_F(TokenizerFolder, AFileTooLargeToBeAConfigurationIsRefused) {
  write("config.json", "{}");
  std::filesystem::resize_file(folder_ / "config.json", std::uintmax_t{1} << 36);  // sparse
  expect_error(ErrorKind::kInvalidModel, "too many", [&] { (void)make_ir_tokenizer(folder_); });
}

/// Makes the folder's tokenizer keep five tokens of a text and put token 1 before and token 2
/// behind them, with the operations that converters use.
void add_tokens_and_truncation(const std::filesystem::path& xml, const std::string& library) {
  using ov::op::v0::Constant;
  ov::Core core;
  core.add_extension(library);
  const auto model = core.read_model(xml.string());
  const NodeFactory factory(library);
  const auto i32 = [](std::vector<std::int32_t> values, const ov::Shape& shape) {
    return Constant::create(ov::element::i32, shape, values)->output(0);
  };
  const auto word = [](const std::string& text) {
    return std::make_shared<Constant>(ov::element::u8, ov::Shape{text.size()}, text.data());
  };

  const auto variable = std::make_shared<ov::op::util::Variable>(
      ov::op::util::VariableInfo{ov::PartialShape{}, ov::element::boolean, "truncation"});
  const auto on = std::make_shared<ov::op::v6::ReadValue>(
      Constant::create(ov::element::boolean, {}, {true}), variable);
  const auto limit = std::make_shared<ov::op::v1::Select>(on, i32({5}, {}), i32({2147483583}, {}));

  for (const auto& node : model->get_ordered_ops()) {
    if (std::string(node->get_type_info().name) != "RaggedToDense") continue;
    const auto kept = factory.create(
        "Truncate", {node->input_value(1).get_node()->output(0), node->input_value(1),
                     node->input_value(2), limit, word("right"), word("longest_first")});
    const auto combined =
        factory.create("CombineSegments", {i32({0}, {}), i32({1}, {}), i32({1}, {1}), kept.at(0),
                                           kept.at(1), kept.at(2), i32({0}, {}), i32({1}, {}),
                                           i32({2}, {1}), i32({0, 0, 0}, {3})});
    for (std::size_t i = 0; i < 3; ++i) node->input(i).replace_source_output(combined.at(i));
    node->input(3).replace_source_output(i32({7}, {}));
  }
  model->add_sinks({std::make_shared<ov::op::v6::Assign>(on, variable)});
  const std::filesystem::path changed = xml.parent_path() / "changed.xml";
  ov::save_model(model, changed.string(), /*compress_to_fp16=*/false);
  for (const char* extension : {".xml", ".bin"}) {
    std::filesystem::rename(std::filesystem::path(changed).replace_extension(extension),
                            std::filesystem::path(xml).replace_extension(extension));
  }
}

std::vector<std::int64_t> run_as_it_is(const std::filesystem::path& xml, const std::string& library,
                                       const std::string& text) {
  ov::Core core;
  core.add_extension(library);
  auto request = core.compile_model(xml.string(), "CPU").create_infer_request();
  ov::Tensor input(ov::element::string, {1});
  input.data<std::string>()[0] = text;
  request.set_input_tensor(input);
  request.infer();
  const ov::Tensor ids = request.get_tensor("input_ids");
  return {ids.data<const std::int64_t>(), ids.data<const std::int64_t>() + ids.get_size()};
}

TEST_F(TokenizerFolder, TokensAFolderAddsAndItsTruncationAreTakenOut) {
  const std::string text = "The sea is <|im_end|> deep 123";
  const std::string library = default_tokenizers_library();
  add_tokens_and_truncation(folder_ / "openvino_tokenizer.xml", library);
  // The change took: as it is, the folder does both.
  EXPECT_THAT(run_as_it_is(folder_ / "openvino_tokenizer.xml", library, text),
              ElementsAre(1, 504, 3426, 314, 216, 2, 2));
  const auto tokenizer = make_ir_tokenizer(folder_);
  EXPECT_THAT(tokenizer->prefix(), ElementsAre(1));  // what stood in front, not what stood behind
  const auto ids = tokenizer->encode(text);
  EXPECT_EQ(ids, make_ir_tokenizer(ir_folder())->encode(text));
  EXPECT_GT(ids.size(), 5U);
}

TEST(TokenizerLifetime, TheLibraryOutlivesAFoldersTokenizer) {
  // In a process of its own, in which nothing else has loaded the library.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        (void)make_ir_tokenizer(ir_folder())->encode("x");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ahead::text
