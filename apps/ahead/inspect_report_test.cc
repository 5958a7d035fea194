// Tests of what `ahead inspect` says. May use: include/ahead, GoogleTest, nlohmann-json.
#include "inspect_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ahead::cli {
namespace {

using ::testing::HasSubstr;

InspectInput input() {
  InspectInput out;
  out.facts = {.path = "m.gguf",
               .architecture = "llama",
               .layers = 30,
               .q_heads = 9,
               .kv_heads = 3,
               .head_dim = 64,
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
  ASSERT_EQ(json["parts"].size(), 4U);
  EXPECT_EQ(json["parts"][0],
            nlohmann::json({{"part", "prefill"}, {"rung", 1024}, {"tokens", 128}}));
  EXPECT_EQ(json["parts"][3], nlohmann::json({{"part", "decode"}, {"rung", 2048}, {"tokens", 1}}));
  EXPECT_THAT(inspect_text(input()), HasSubstr("decode@2048 (1 token)"));
}

TEST(InspectReport, AHostilePathStaysInItsLine) {
  InspectInput hostile = input();
  hostile.facts.path = "a\nb\xFF";
  EXPECT_THAT(inspect_text(hostile), HasSubstr("a b"));
  EXPECT_TRUE(nlohmann::json::accept(inspect_json(hostile)));
}

}  // namespace
}  // namespace ahead::cli
