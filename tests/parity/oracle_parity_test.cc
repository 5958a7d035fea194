// Every step of a forced run, across boundaries, against the unmodified dynamic model, and every
// cut against the whole graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "ahead/llm_pipeline.h"
#include "base/affinity.h"
#include "openvino/runtime/core.hpp"
#include "openvino/runtime/properties.hpp"
#include "parity/forced_text.h"
#include "parity/oracle.h"
#include "support/compare.h"

namespace ahead::test {
namespace {

constexpr std::size_t kPrompt = 40;
constexpr std::size_t kForced = 200;      ///< compared with the dynamic model
constexpr std::size_t kLongForced = 500;  ///< compared with the whole graph

/// Ahead's logits by position, for the steps that decode forced tokens.
struct Forced {
  std::vector<std::vector<float>> logits;  ///< [position]
  RunResult result;
};

struct Variant {
  Partition partition = Partition::kWhole;
  std::optional<KvType> kv_type = KvType::kF32;
  std::vector<std::int64_t> ladder = {64, 128, 256};
  /// Empty: chosen. One thread has a faster form to change to on every processor.
  std::vector<int> device_cores;
};

Forced run_forced(const Model& model, const std::vector<std::int32_t>& ids,
                  const Variant& variant = {}) {
  PipelineConfig config;
  config.axes.ladder = variant.ladder;
  config.axes.partition = variant.partition;
  config.kv_type = variant.kv_type;
  config.prefill_chunk = 32;
  config.device_cores = variant.device_cores;
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
  EXPECT_EQ(forced.result.error, "");
  EXPECT_EQ(forced.result.boundaries.size(), variant.ladder.size() - 1);
  return forced;
}

/// As far as the oracle goes.
void expect_parity(const Forced& forced, const std::vector<std::vector<float>>& oracle,
                   double min_cosine) {
  std::size_t compared = 0;
  std::size_t equal = 0;
  for (std::size_t position = kPrompt - 1; position + 1 < oracle.size(); ++position) {
    ASSERT_EQ(forced.logits[position].size(), oracle[position].size()) << "position " << position;
    ++compared;
    equal += top1(forced.logits[position]) == top1(oracle[position]) ? 1 : 0;
    EXPECT_GE(cosine(forced.logits[position], oracle[position]), min_cosine)
        << "position " << position;
  }
  EXPECT_EQ(compared, oracle.size() - kPrompt);
  EXPECT_GE(static_cast<double>(equal), 0.98 * static_cast<double>(compared));
}

/// Decisions of a kind: "use", "start".
std::size_t decisions(const RunResult& result, const std::string& what) {
  return static_cast<std::size_t>(
      std::count_if(result.trace.begin(), result.trace.end(), [&](const TraceEvent& event) {
        return event.row == "compiler" && event.name.rfind(what + " ", 0) == 0;
      }));
}

TEST(OracleParity, GgufOnEveryCutOverAForcedText) {
  const Model& model = smollm2();
  const auto ids = text_ids(model, kPrompt + kLongForced);
  const auto oracle = gguf_oracle(smollm2_gguf(), {ids.begin(), ids.begin() + kPrompt + kForced});
  const std::vector<std::int64_t> ladder = {64, 96, 128, 576};
  const Forced control = run_forced(model, ids, {.ladder = ladder});
  expect_parity(control, oracle, 0.999);
  // The cut at attention in what it stores by default where the device computes in f16, and in what
  // `whole` does.
  for (const auto& [partition, kv_type] :
       std::vector<std::pair<Partition, KvType>>{{Partition::kAttention, KvType::kF16},
                                                 {Partition::kAttention, KvType::kF32},
                                                 {Partition::blocks(10), KvType::kF32}}) {
    SCOPED_TRACE(to_string(partition));
    // A layer's weights as inputs are slow on this device: behind the last boundary a few tokens
    // do, unless AHEAD_LONG_TESTS is set.
    const bool blocks = partition.kind == Partition::Kind::kBlocks;
    const std::size_t tokens =
        blocks && std::getenv("AHEAD_LONG_TESTS") == nullptr ? 110 : kLongForced;
    const std::vector<std::int32_t> some(ids.begin(), ids.begin() + kPrompt + tokens);
    const Forced made =
        run_forced(model, some, {partition, kv_type, ladder, {allowed_cores().front()}});
    if (!blocks) {
      expect_parity(made, oracle, 0.999);
      EXPECT_GE(decisions(made.result, "use"), 1U) << "both forms of the planner are compared";
    }
    for (std::size_t at = kPrompt - 1; at + 1 < some.size(); ++at) {
      ASSERT_FALSE(made.logits[at].empty()) << "position " << at;
      EXPECT_GE(cosine(made.logits[at], control.logits[at]), 0.9999) << "position " << at;
      EXPECT_EQ(top1(made.logits[at]), top1(control.logits[at])) << "position " << at;
    }
  }
}

TEST(OracleParity, IrForcedRunEqualsTheDynamicModel) {
  const Model model(smollm2_ir());
  // What may differ is what was read; boundaries are the GGUF file's to show.
  const auto ids = text_ids(model, kPrompt + kForced / 2);
  const auto oracle = ir_oracle(smollm2_ir(), ids);
  for (const Partition partition : {Partition::kWhole, Partition::kAttention}) {
    expect_parity(run_forced(model, ids, {partition, KvType::kF32, {64, 160}}), oracle, 0.999);
  }
}

TEST(OracleParity, Qwen2ForcedRunEqualsTheDynamicModel) {
  const Model& model = qwen2();
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
  const auto chosen = [&](Partition partition) {
    PipelineConfig config;
    config.axes.ladder = {64};
    config.axes.partition = partition;
    LLMPipeline pipeline(qwen2(), "CPU", config);
    return pipeline.generate("a", {.max_new_tokens = 1}).kv_type;
  };
  EXPECT_EQ(chosen(Partition::kAttention), has_f16 ? KvType::kF16 : KvType::kF32);
  EXPECT_EQ(chosen(Partition::kWhole), KvType::kF32);
}

}  // namespace
}  // namespace ahead::test
