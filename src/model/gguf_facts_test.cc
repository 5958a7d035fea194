// What a header says of the file: bytes by type, rotation in words, and the refusal.
#include "model/gguf_facts.h"

#include <gtest/gtest.h>

namespace ahead::model {
namespace {

GgufHeader llama() {
  GgufHeader header;
  header.version = 3;
  header.strings["general.architecture"] = "llama";
  header.types["general.architecture"] = GgufType::kString;
  for (const auto& [key, value] : {std::pair<const char*, std::int64_t>{"block_count", 1},
                                   {"context_length", 2048},
                                   {"embedding_length", 64},
                                   {"attention.head_count", 4},
                                   {"feed_forward_length", 128}}) {
    header.types["llama." + std::string(key)] = GgufType::kUint32;
    header.integers["llama." + std::string(key)] = value;
  }
  header.floats["llama.rope.freq_base"] = 500000;
  header.types["llama.rope.freq_base"] = GgufType::kFloat32;
  header.types["tokenizer.ggml.tokens"] = GgufType::kArray;
  header.tensors = {{.name = "token_embd.weight", .type = 12, .elements = 512, .bytes = 288},
                    {.name = "blk.0.attn_q.weight", .type = 12, .elements = 256, .bytes = 144},
                    {.name = "output_norm.weight", .type = 0, .elements = 64, .bytes = 256},
                    {.name = "output.weight", .type = 14, .elements = 1024, .bytes = 840}};
  return header;
}

TEST(GgufFacts, BytesAreSummedByTypeTheLargestFirst) {
  const FileFacts facts = gguf_facts(llama());
  EXPECT_EQ(facts.format, "GGUF 3");
  EXPECT_EQ(facts.architecture, "llama");
  EXPECT_NE(facts.verified_by, "");
  const std::vector<FileFacts::Stored> wanted = {
      {"Q6_K", 1, 840}, {"Q4_K", 2, 432}, {"F32", 1, 256}};
  EXPECT_EQ(facts.stored, wanted);
  EXPECT_EQ(facts.refusal, "");
}

TEST(GgufFacts, RotationIsToldWithItsScalingAndFactors) {
  GgufHeader header = llama();
  EXPECT_EQ(gguf_facts(header).rotation, "base 500000");
  header.strings["llama.rope.scaling.type"] = "yarn";
  header.types["llama.rope.scaling.type"] = GgufType::kString;
  header.floats["llama.rope.scaling.factor"] = 4;
  header.types["llama.rope.scaling.factor"] = GgufType::kFloat32;
  header.rope_factors["rope_freqs.weight"] = {1, 2.5, 8};
  EXPECT_EQ(gguf_facts(header).rotation,
            "base 500000, scaling 'yarn', factor 4, 'rope_freqs.weight' of 3 factors, 1 to 8");
}

TEST(GgufFacts, WhatWouldBeRefusedIsSaidWithTheReason) {
  GgufHeader header = llama();
  header.strings["general.architecture"] = "rwkv6";
  EXPECT_NE(gguf_facts(header).refusal.find("'rwkv6'"), std::string::npos);
  EXPECT_EQ(gguf_facts(header).verified_by, "");
  header = llama();
  header.strings["general.type"] = "adapter";
  header.types["general.type"] = GgufType::kString;
  EXPECT_EQ(refusal_of(header).find("is an adapter"), 0U);
  header = llama();
  header.strings["llama.rope.scaling.type"] = "longrope";
  header.types["llama.rope.scaling.type"] = GgufType::kString;
  EXPECT_NE(refusal_of(header).find("longrope"), std::string::npos);
  EXPECT_EQ(refusal_of(header).find("would be run wrongly"), 0U);
}

TEST(GgufFacts, TypesHaveGgmlsNames) {
  EXPECT_EQ(name_of_ggml_type(3), "Q4_1");
  EXPECT_EQ(name_of_ggml_type(39), "MXFP4");
  EXPECT_EQ(name_of_ggml_type(4), "type 4");
  EXPECT_EQ(name_of_ggml_type(1U << 31), "type 2147483648");
}

}  // namespace
}  // namespace ahead::model
