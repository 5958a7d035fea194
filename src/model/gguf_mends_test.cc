// Which files need what the frontend leaves out. May use: GoogleTest.
#include "model/gguf_mends.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/verified.h"

namespace ahead::model {
namespace {

GgufHeader header_of(const std::string& architecture) {
  GgufHeader header;
  header.strings["general.architecture"] = architecture;
  return header;
}

GgufHeader with_factors(const std::string& architecture, std::vector<float> factors) {
  GgufHeader header = header_of(architecture);
  header.rope_factors["rope_freqs.weight"] = std::move(factors);
  return header;
}

GgufHeader with_experts(const std::string& architecture) {
  GgufHeader header = header_of(architecture);
  header.integers[architecture + ".expert_count"] = 8;
  return header;
}

TEST(GgufMends, APlainFileNeedsNone) {
  for (const char* architecture : {"llama", "qwen2", "gemma3", "unheard-of"}) {
    EXPECT_EQ(mends_of(header_of(architecture)), GgufMends{}) << architecture;
  }
}

TEST(GgufMends, FrequencyFactorsThatAreNotAllOneAreOfTheArchitecturesThatHaveThem) {
  EXPECT_EQ(mends_of(with_factors("llama", {1, 8})).frequency_factors, (std::vector<float>{1, 8}));
  EXPECT_EQ(mends_of(with_factors("mistral3", {0.125F})).frequency_factors,
            (std::vector<float>{0.125F}));
  EXPECT_EQ(mends_of(with_factors("llama", {1, 1})), GgufMends{});
  EXPECT_EQ(mends_of(with_factors("qwen2", {1, 8})), GgufMends{});
  EXPECT_TRUE(is_mended_tensor(with_factors("llama", {1, 8}), "rope_freqs.weight"));
  EXPECT_FALSE(is_mended_tensor(with_factors("qwen2", {1, 8}), "rope_freqs.weight"));
  EXPECT_FALSE(is_mended_tensor(with_factors("llama", {1, 8}), "rope_factors_long.weight"));
  EXPECT_FALSE(is_mended_tensor(header_of("llama"), "rope_freqs.weight")) << "values unknown";
}

TEST(GgufMends, EveryFourthLayerOfSmolLm3IsNotRotated) {
  EXPECT_EQ(mends_of(header_of("smollm3")).unrotated_every, 4);
}

TEST(GgufMends, WhatTheFrontendHasOtherwiseIsOfItsArchitectureAlone) {
  EXPECT_TRUE(mends_of(header_of("qwen3moe")).rotate_halves);
  EXPECT_FALSE(mends_of(header_of("qwen3")).rotate_halves);
  EXPECT_TRUE(mends_of(header_of("gpt-oss")).softmax_over_experts);
  EXPECT_FALSE(mends_of(header_of("olmoe")).softmax_over_experts);
}

TEST(GgufMends, ExpertsOfSomeArchitecturesAlwaysAddUpToOne) {
  for (const char* architecture : {"qwen3moe", "llama", "mistral3"}) {
    EXPECT_TRUE(mends_of(with_experts(architecture)).normalise_experts) << architecture;
    EXPECT_FALSE(mends_of(header_of(architecture)).normalise_experts) << architecture;
    GgufHeader done = with_experts(architecture);
    done.integers[std::string(architecture) + ".expert_weights_norm"] = 1;
    EXPECT_FALSE(mends_of(done).normalise_experts) << "the frontend does it then";
  }
  EXPECT_FALSE(mends_of(with_experts("olmoe")).normalise_experts);
}

TEST(Verified, ATableLineIsOfAFormat) {
  EXPECT_NE(verified_by(Format::kGguf, "qwen3moe").find("llama.cpp"), std::string_view::npos);
  EXPECT_NE(verified_by(Format::kIr, "qwen3_moe").find("OpenVINO"), std::string_view::npos);
  EXPECT_EQ(verified_by(Format::kIr, "qwen3moe"), "");
  EXPECT_EQ(verified_by(Format::kGguf, "gemma2"), "") << "computed wrongly by the frontend";
  EXPECT_EQ(verified_by(Format::kGguf, ""), "");
  EXPECT_NE(verified_architectures(Format::kIr).find("olmo2, phi, phi3"), std::string::npos);
}

}  // namespace
}  // namespace ahead::model
