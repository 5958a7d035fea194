// What a program of joined bodies is: its parts, ports, and the calls made where it pauses.
#include "graph/cut_joined.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/partition.h"
#include "graph/pause.h"
#include "graph/test_decoder.h"

namespace ahead::graph {
namespace {

PartitionedDecoder joined() {
  return {small_decoder(),
          {.partition = Partition::kAttention, .cache = {ElementType::kF16, 16}, .joined = true}};
}

TEST(CutJoined, BodiesAreOnePartAndEqualAttentionsAnother) {
  const ProgramSpec spec = joined().spec({.rung = 64});
  ASSERT_EQ(spec.parts.size(), 2U);
  EXPECT_EQ(spec.parts[0].name, "bodies");
  EXPECT_FALSE(spec.parts[0].depends_on_rung);
  EXPECT_TRUE(spec.parts[0].depends_on_tier);
  EXPECT_EQ(spec.parts[1].name, "attention.4x2x8");
  EXPECT_TRUE(spec.parts[1].depends_on_rung);
  EXPECT_FALSE(spec.parts[1].holds_weights);
}

// One artifact of a rung serves both forms: what tells parts apart must be the same in both.
TEST(CutJoined, AttentionsAreThePartsOfACutAtAttention) {
  const ProgramSpec spec = joined().spec({.rung = 64});
  const ProgramSpec apart = PartitionedDecoder(small_decoder(), {.partition = Partition::kAttention,
                                                                 .cache = {ElementType::kF16, 16}})
                                .spec({.rung = 64});
  const auto same = std::find_if(apart.parts.begin(), apart.parts.end(), [&](const PartSpec& part) {
    return part.name == spec.parts[1].name;
  });
  ASSERT_NE(same, apart.parts.end());
  EXPECT_FALSE(same->depends_on_tier);
  EXPECT_FALSE(spec.parts[1].depends_on_tier);
}

// Which layer has which attention is the same in both, by name.
TEST(CutJoined, UnlikeAttentionsArePartsOfTheirOwnWithTheSameNamesInEveryCut) {
  const auto names = [](bool joined) {
    const ProgramSpec spec =
        PartitionedDecoder(small_decoder({0.25F, 0.5F, 0.25F}), {.partition = Partition::kAttention,
                                                                 .cache = {ElementType::kF32, 16},
                                                                 .joined = joined})
            .spec({.rung = 64});
    std::vector<std::string> called;
    for (const CallSpec& call : spec.calls) {
      const PartSpec& part = spec.parts[call.part];
      if (part.depends_on_rung) called.push_back(part.name);
    }
    return called;
  };
  EXPECT_EQ(names(true), names(false));
  EXPECT_EQ(names(true)[0], names(true)[2]);
  EXPECT_NE(names(true)[0], names(true)[1]);
}

TEST(CutJoined, EveryLayerAttendsWhereTheBodiesPause) {
  for (const std::int64_t batch : {1, 3}) {
    const ProgramSpec spec = joined().spec({.batch = batch, .rung = 64});
    ASSERT_EQ(spec.calls.size(), static_cast<std::size_t>(1 + 2 * batch));
    EXPECT_FALSE(spec.calls[0].within.has_value());
    for (std::size_t index = 1; index < spec.calls.size(); ++index) {
      const CallSpec& call = spec.calls[index];
      ASSERT_TRUE(call.within.has_value());
      EXPECT_EQ(call.within->call, 0U);
      EXPECT_EQ(call.within->pause, (index - 1) / static_cast<std::size_t>(batch));
      EXPECT_EQ(call.row, batch == 1 ? kWholeBatch : static_cast<std::int64_t>(index - 1) % batch);
    }
  }
}

TEST(CutJoined, WhatGoesOutAtAPauseIsWhatTheAttentionTakesAndItsResultComesIn) {
  const ProgramSpec spec = joined().spec({.rung = 64});
  const CallSpec& bodies = spec.calls[0];
  ASSERT_EQ(bodies.inputs.size(), 3U + 2U);
  ASSERT_EQ(bodies.outputs.size(), 1U + 2U * 3U);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const CallSpec& attention = spec.calls[1 + layer];
    for (std::size_t value = 0; value < 3; ++value) {
      EXPECT_EQ(bodies.outputs[1 + 3 * layer + value].value, attention.inputs[value].value);
    }
    EXPECT_EQ(bodies.inputs[3 + layer].value, attention.outputs[0].value);
  }
  EXPECT_EQ(spec.values[bodies.outputs[2].value].role, Role::kNewK);
  EXPECT_EQ(spec.values[bodies.outputs[2].value].type, ElementType::kF16);
}

TEST(CutJoined, TheGraphIsStaticAndPausesOnceALayer) {
  const auto graph = joined().build({.rung = 64}, 0);
  EXPECT_FALSE(graph->is_dynamic());
  EXPECT_EQ(graph->inputs().size(), 3U);
  EXPECT_EQ(graph->outputs().size(), 1U);
  const ov::NodeVector nodes = graph->get_ops();
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(),
                          [](const auto& node) { return ov::is_type<Pause>(node); }),
            2);
}

TEST(CutJoinedDeathTest, OpenTokensStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(PartitionedDecoder(small_decoder(), {.partition = Partition::kAttention,
                                                    .cache = {ElementType::kF32, 16},
                                                    .open_tokens = true,
                                                    .joined = true}),
               "static bodies");
}

}  // namespace
}  // namespace ahead::graph
