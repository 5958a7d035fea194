// Every group of tokenizers on a small vocabulary of its own, against what another implementation
// makes of some seven hundred texts (make_references.py). May use: std, OpenVINO, JSON, GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <openvino/runtime/tensor.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "text/gguf_tokenizer.h"
#include "text/utf8_stream.h"
#include "tokenizer_fixture.h"

namespace ahead::text {
namespace {

using Json = nlohmann::json;

/// The reference of a group, or of its whole vocabulary where AHEAD_TEST_REFERENCES names a folder
/// that has it.
Json reference_of(const std::string& group) {
  const char* folder = std::getenv("AHEAD_TEST_REFERENCES");
  const std::string path = folder == nullptr
                               ? AHEAD_SOURCE_DIR "/tests/tokenizer/references/" + group + ".json"
                               : std::string(folder) + "/" + group + ".full.json";
  return Json::parse(std::ifstream(path));
}

template <typename T>
ov::Tensor tensor_of(const Json& values, const ov::element::Type& type) {
  const auto numbers = values.get<std::vector<T>>();
  ov::Tensor tensor(type, {numbers.size()});
  std::copy(numbers.begin(), numbers.end(), tensor.data<T>());
  return tensor;
}

/// As the GGUF frontend leaves a file's metadata.
ov::AnyMap metadata_of(const Json& reference) {
  const Json& from = reference.at("metadata");
  ov::AnyMap metadata = {
      {"model", from.at("model").get<std::string>()},
      {"pre", from.at("pre").get<std::string>()},
      {"tokens", from.at("tokens").get<std::vector<std::string>>()},
      {"token_type", tensor_of<std::int32_t>(from.at("token_type"), ov::element::i32)}};
  if (from.contains("merges")) {
    metadata["merges"] = from.at("merges").get<std::vector<std::string>>();
  }
  if (from.contains("scores")) {
    metadata["scores"] = tensor_of<float>(from.at("scores"), ov::element::f32);
  }
  if (from.contains("add_space_prefix")) {
    metadata["add_space_prefix"] = from.at("add_space_prefix").get<bool>();
  }
  if (from.contains("bos_token_id")) {
    metadata["bos_token_id"] =
        tensor_of<std::uint32_t>(Json::array({from.at("bos_token_id")}), ov::element::u32);
  }
  return metadata;
}

class TokenizerGroup : public testing::TestWithParam<const char*> {
 protected:
  TokenizerGroup() : reference_(reference_of(GetParam())), metadata_(metadata_of(reference_)) {}

  const Json reference_;
  const ov::AnyMap metadata_;
};

INSTANTIATE_TEST_SUITE_P(Groups, TokenizerGroup,
                         testing::Values("gpt-2", "qwen2", "llama3", "dbrx", "gpt-4o", "tekken",
                                         "deepseek-v3", "llama2", "gemma3"),
                         [](const auto& group) {
                           std::string name = group.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(TokenizerGroup, EncodesDecodesAndStreamsAsTheReference) {
  const auto tokenizer = make_gguf_tokenizer(metadata_);
  ASSERT_GE(reference_.at("cases").size(), 500U);
  std::size_t wrong = 0;
  for (const Json& expected : reference_.at("cases")) {
    const auto text = expected.at("text").get<std::string>();
    const auto ids = expected.at("ids").get<std::vector<std::int32_t>>();
    const auto decoded = expected.at("decoded").get<std::string>();
    const std::vector<std::int32_t> own = tokenizer->encode(text);
    const std::string back = to_valid_utf8(tokenizer->decode(ids));
    if (own == ids && back == decoded) continue;
    if (++wrong > 8) continue;
    EXPECT_EQ(testing::PrintToString(own), testing::PrintToString(ids))
        << "of \"" << printable(text) << '"';
    EXPECT_EQ(printable(back), printable(decoded)) << "of \"" << printable(text) << '"';
  }
  EXPECT_EQ(wrong, 0U) << "of " << reference_.at("cases").size() << " texts";
}

TEST_P(TokenizerGroup, StreamsWhatItDecodes) {
  const auto tokenizer = make_gguf_tokenizer(metadata_);
  for (const Json& expected : reference_.at("cases")) {
    const auto ids = expected.at("ids").get<std::vector<std::int32_t>>();
    Utf8Stream stream([&](std::span<const std::int32_t> some) { return tokenizer->decode(some); });
    std::string text;
    for (const std::int32_t id : ids) text += stream.push(id);
    text += stream.flush();
    ASSERT_EQ(printable(text), printable(to_valid_utf8(tokenizer->decode(ids))));
  }
}

/// A quick share of what AHEAD_TEST_RANDOM_TEXTS=100000 does.
TEST_P(TokenizerGroup, RandomTextsEncodeAndComeBackWhereTheyCan) {
  const char* wanted = std::getenv("AHEAD_TEST_RANDOM_TEXTS");
  const long count = wanted == nullptr ? 400 : std::strtol(wanted, nullptr, 10);
  const auto tokenizer = make_gguf_tokenizer(metadata_);
  const auto tokens = reference_.at("metadata").at("tokens").get<std::vector<std::string>>();
  std::mt19937 random(11);
  for (long round = 0; round < count; ++round) {
    std::string text;
    bool plain = true;
    for (std::size_t i = random() % 12; i > 0; --i) {
      switch (random() % 5) {
        case 0:
          text += static_cast<char>(' ' + random() % 95);
          break;
        case 1:
          text += std::string(1 + random() % 9, " \t\n\r"[random() % 4]);
          break;
        case 2:
          text += std::to_string(random() % 100'000);
          break;
        case 3:
          text += tokens[random() % tokens.size()];
          plain = false;  // may be written out, or hold what stands for a space
          break;
        default: {  // bytes, most of which are no UTF-8
          for (std::size_t byte = random() % 5; byte > 0; --byte) {
            text += static_cast<char>(random() % 256);
          }
          plain = false;
        }
      }
    }
    const std::vector<std::int32_t> ids = tokenizer->encode(text);
    for (const std::int32_t id : ids) {
      ASSERT_TRUE(id >= 0 && static_cast<std::size_t>(id) < tokens.size()) << printable(text);
    }
    const std::string back = tokenizer->decode(ids);
    if (plain) {
      ASSERT_EQ(printable(back), printable(text));
    }
  }
}

TEST(TokenizerGroups, AFirstTokenIsPutInFrontWhereTheGroupDoesAndTheFileSaysNothing) {
  const auto prefix = [](const std::string& group) {
    return make_gguf_tokenizer(metadata_of(reference_of(group)))->prefix().size();
  };
  EXPECT_EQ(prefix("llama3"), 1U);
  EXPECT_EQ(prefix("gemma3"), 1U);
  EXPECT_EQ(prefix("llama2"), 1U);
  EXPECT_EQ(prefix("tekken"), 1U);
  EXPECT_EQ(prefix("dbrx"), 0U);
  EXPECT_EQ(prefix("gpt-4o"), 0U);
  ov::AnyMap told = metadata_of(reference_of("gemma3"));
  told["add_bos_token"] = false;
  EXPECT_TRUE(make_gguf_tokenizer(told)->prefix().empty());
}

TEST(TokenizerGroups, BrokenSentencePieceMetadataAreNamed) {
  const ov::AnyMap whole = metadata_of(reference_of("llama2"));
  const auto with = [&](const std::string& key, const ov::Any& value) {
    ov::AnyMap changed = whole;
    changed[key] = value;
    return changed;
  };
  const auto expect = [](const ov::AnyMap& metadata, const std::string& part) {
    expect_error(ErrorKind::kInvalidModel, part, [&] { (void)make_gguf_tokenizer(metadata); });
  };
  expect(with("scores", ov::Tensor(ov::element::f32, {3})), "tokenizer.ggml.scores has 3 entries");
  expect(with("scores", std::string("none")), "tokenizer.ggml.scores has the wrong type");
  const auto& scores = whole.at("scores").as<ov::Tensor>();
  ov::Tensor unclear(ov::element::f32, scores.get_shape());
  scores.copy_to(unclear);
  unclear.data<float>()[7] = std::nanf("");
  expect(with("scores", unclear), "the score of token 7 is no number");
  expect(with("tokens", std::vector<std::string>{}), "it has no tokens");
  expect(with("token_type", ov::Tensor(ov::element::i32, {1})), "token_type has 1 entries");
  ov::AnyMap missing = whole;
  missing.erase("scores");
  expect(missing, "tokenizer.ggml.scores is missing");
  expect_error(ErrorKind::kUnsupportedModel, "remove_extra_whitespaces",
               [&] { (void)make_gguf_tokenizer(with("remove_extra_whitespaces", true)); });
}

}  // namespace
}  // namespace ahead::text
