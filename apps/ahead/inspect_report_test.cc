// Tests of what `ahead inspect` says. May use: include/ahead, GoogleTest, nlohmann-json.
#include "inspect_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ahead::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

InspectInput input() {
  InspectInput out;
  out.facts = {.path = "m.gguf",
               .architecture = "llama",
               .layers = 30,
               .q_heads = 9,
               .kv_heads = 3,
               .head_dim = 64,
               .value_dim = 64,
               .vocabulary = 49152,
               .trained_context = 8192,
               .kv_values_per_token = 11520};
  out.sha256 = "ab12";
  out.ladder = {1024, 2048};
  out.prefill_chunk = 128;
  return out;
}

TEST(InspectReport, GivesKvBytesOfEachRungForBothTypes) {
  const auto json = nlohmann::json::parse(inspect_json(input()));
  ASSERT_EQ(json["ladder"].size(), 2U);
  EXPECT_EQ(json["ladder"][0]["rung"], 1024);
  EXPECT_EQ(json["ladder"][0]["kv_bytes"]["f32"], 11520 * 1024 * 4);
  EXPECT_EQ(json["ladder"][1]["kv_bytes"]["f16"], 11520 * 2048 * 2);
  EXPECT_THAT(inspect_text(input()), HasSubstr("45.0 MiB"));
}

TEST(InspectReport, ListsTheFactsAndTheParts) {
  const auto json = nlohmann::json::parse(inspect_json(input()));
  EXPECT_EQ(json["model"]["layers"], 30);
  EXPECT_EQ(json["model"]["sha256"], "ab12");
  EXPECT_EQ(json["model"]["trained_context"], 8192);
  EXPECT_EQ(json["partition"], "whole");
  ASSERT_EQ(json["parts"].size(), 4U);
  EXPECT_EQ(json["parts"][0], nlohmann::json({{"part", "prefill"},
                                              {"graph", "whole"},
                                              {"rung", 1024},
                                              {"tokens", 128},
                                              {"graphs", 1}}));
  EXPECT_EQ(
      json["parts"][3],
      nlohmann::json(
          {{"part", "decode"}, {"graph", "whole"}, {"rung", 2048}, {"tokens", 1}, {"graphs", 1}}));
  EXPECT_THAT(inspect_text(input()), HasSubstr("decode@2048 (1 token)"));
}

TEST(InspectReport, AChunkIsNoLongerThanItsRung) {
  InspectInput short_rungs = input();
  short_rungs.ladder = {64, 256};
  EXPECT_THAT(inspect_text(short_rungs),
              AllOf(HasSubstr("prefill@64 (64 tokens)"), HasSubstr("prefill@256 (128 tokens)")));
  const auto json = nlohmann::json::parse(inspect_json(short_rungs));
  EXPECT_EQ(json["parts"][0]["tokens"], 64);
  EXPECT_EQ(json["parts"][2]["tokens"], 128);
}

TEST(InspectReport, CutAtAttentionTheWeightsStandInABodyOnceForEachLengthOfAStep) {
  InspectInput cut = input();
  cut.partition = Partition::kAttention;
  cut.ladder = {64, 256, 1024};
  const auto json = nlohmann::json::parse(inspect_json(cut));
  EXPECT_EQ(json["partition"], "attention");
  std::vector<std::string> seen;
  for (const auto& part : json["parts"]) {
    seen.push_back(part["part"].get<std::string>() + " " + part["graph"].get<std::string>() + " " +
                   part["rung"].dump() + " " + part["tokens"].dump());
  }
  EXPECT_THAT(seen,
              ElementsAre("prefill body null 64", "prefill body null 128", "decode body null 1",
                          "prefill attention 64 64", "decode attention 64 1",
                          "prefill attention 256 128", "decode attention 256 1",
                          "prefill attention 1024 128", "decode attention 1024 1"));
  EXPECT_EQ(json["parts"][0]["graphs"], 31);
  EXPECT_THAT(inspect_text(cut),
              AllOf(HasSubstr("without weights"), HasSubstr("prefill (64 tokens) in 31 graphs"),
                    HasSubstr("decode (1 token) in 31 graphs."),
                    HasSubstr("as the CPU does, has one set"), HasSubstr("decode@1024")));
}

TEST(InspectReport, CutInBlocksEmbeddingAndHeadStandBesideTheLayers) {
  InspectInput cut = input();
  cut.partition = Partition::blocks(4);
  cut.ladder = {64};
  const auto json = nlohmann::json::parse(inspect_json(cut));
  EXPECT_EQ(json["partition"], "blocks:4");
  std::vector<std::string> seen;
  for (const auto& part : json["parts"]) {
    seen.push_back(part["part"].get<std::string>() + " " + part["graph"].get<std::string>() + " " +
                   part["rung"].dump());
  }
  EXPECT_THAT(seen, ElementsAre("prefill embedding and head null", "decode embedding and head null",
                                "prefill block 64", "decode block 64"));
  EXPECT_THAT(inspect_text(cut),
              AllOf(HasSubstr("groups of 4 layers"), HasSubstr("decode (1 token) in 2 graphs.")));
}

TEST(InspectReport, AHostilePathStaysInItsLine) {
  InspectInput hostile = input();
  hostile.facts.path = "a\nb\xFF\x1B[31m";
  hostile.facts.architecture =
      "lla\xC2\x9B"
      "31mma\x1B]0;x\x07";
  for (const std::string& said : {inspect_text(hostile), inspect_json(hostile)}) {
    EXPECT_EQ(said.find_first_of("\x1B\x07\xC2\xFF"), std::string::npos) << said;
  }
  EXPECT_THAT(inspect_text(hostile), HasSubstr("a b"));
  EXPECT_TRUE(nlohmann::json::accept(inspect_json(hostile)));
}

}  // namespace
}  // namespace ahead::cli
