// Every step of a forced run, across boundaries, against the unmodified dynamic model.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "ahead/llm_pipeline.h"
#include "openvino/runtime/core.hpp"
#include "openvino/runtime/properties.hpp"
#include "parity/oracle.h"
#include "support/compare.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

constexpr std::size_t kPrompt = 40;
constexpr std::size_t kForced = 200;

std::vector<std::int32_t> text_ids(const Model& model, std::size_t count) {
  std::ifstream file(AHEAD_SOURCE_DIR "/data/forced.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::int32_t> ids = model.encode(text.substr(0, count * 16));
  EXPECT_GE(ids.size(), count);
  ids.resize(count);
  return ids;
}

/// Ahead's logits by position, for the steps that decode forced tokens.
struct Forced {
  std::vector<std::vector<float>> logits;  ///< [position]
  RunResult result;
};

struct Variant {
  Partition partition = Partition::kWhole;
  KvType kv_type = KvType::kF32;
};

Forced run_forced(const Model& model, const std::vector<std::int32_t>& ids,
                  const Variant& variant = {}) {
  PipelineConfig config;
  config.axes.ladder = {64, 128, 256};
  config.axes.partition = variant.partition;
  config.kv_type = variant.kv_type;
  config.prefill_chunk = 32;
  LLMPipeline pipeline(model, "CPU", config);
  Forced forced;
  forced.logits.resize(ids.size());
  GenerationConfig generation;
  generation.forced_token_ids.assign(ids.begin() + kPrompt, ids.end());
  generation.logits_observer = [&](const StepLogits& step) {
    forced.logits.at(static_cast<std::size_t>(step.position))
        .assign(step.values.begin(), step.values.end());
  };
  forced.result = pipeline.generate(std::span(ids).first(kPrompt), generation);
  return forced;
}

void expect_parity(const Forced& forced, const std::vector<std::vector<float>>& oracle,
                   double min_cosine) {
  ASSERT_EQ(forced.result.error, "");
  ASSERT_EQ(forced.result.boundaries.size(), 2U);
  std::size_t compared = 0;
  std::size_t equal = 0;
  for (std::size_t position = kPrompt - 1; position + 1 < oracle.size(); ++position) {
    ASSERT_EQ(forced.logits[position].size(), oracle[position].size()) << "position " << position;
    ++compared;
    equal += top1(forced.logits[position]) == top1(oracle[position]) ? 1 : 0;
    EXPECT_GE(cosine(forced.logits[position], oracle[position]), min_cosine)
        << "position " << position;
  }
  EXPECT_EQ(compared, kForced);
  EXPECT_GE(static_cast<double>(equal), 0.98 * static_cast<double>(compared));
}

TEST(OracleParity, GgufForcedRunEqualsTheDynamicModel) {
  const Model model(smollm2_gguf());
  const auto ids = text_ids(model, kPrompt + kForced);
  const auto oracle = gguf_oracle(smollm2_gguf(), ids);
  expect_parity(run_forced(model, ids), oracle, 0.999);
  expect_parity(run_forced(model, ids, {Partition::kAttention, KvType::kF16}), oracle, 0.999);
}

TEST(OracleParity, IrForcedRunEqualsTheDynamicModel) {
  const Model model(smollm2_ir());
  const auto ids = text_ids(model, kPrompt + kForced);
  const auto oracle = ir_oracle(smollm2_ir(), ids);
  expect_parity(run_forced(model, ids), oracle, 0.999);
  expect_parity(run_forced(model, ids, {Partition::kAttention, KvType::kF32}), oracle, 0.999);
}

TEST(OracleParity, Qwen2ForcedRunEqualsTheDynamicModel) {
  const Model model(qwen2_gguf());
  EXPECT_EQ(model.facts().architecture, "qwen2");
  const auto ids = text_ids(model, kPrompt + kForced);
  const auto oracle = gguf_oracle(qwen2_gguf(), ids);
  for (const Partition partition : {Partition::kWhole, Partition::kAttention}) {
    for (const KvType kv_type : {KvType::kF32, KvType::kF16}) {
      expect_parity(run_forced(model, ids, {partition, kv_type}), oracle, 0.999);
    }
  }
}

TEST(OracleParity, NobodyNamingTheCachesTypeGetsF16WhereTheDeviceComputesInIt) {
  const auto capabilities = ov::Core().get_property("CPU", ov::device::capabilities);
  const bool has_f16 =
      std::ranges::find(capabilities, ov::device::capability::FP16) != capabilities.end();
  const Model model(qwen2_gguf());
  const auto chosen = [&](Partition partition) {
    PipelineConfig config;
    config.axes.ladder = {64};
    config.axes.partition = partition;
    LLMPipeline pipeline(model, "CPU", config);
    return pipeline.generate("a", {.max_new_tokens = 1}).kv_type;
  };
  EXPECT_EQ(chosen(Partition::kAttention), has_f16 ? KvType::kF16 : KvType::kF32);
  EXPECT_EQ(chosen(Partition::kWhole), KvType::kF32);
}

}  // namespace
}  // namespace ahead::test
