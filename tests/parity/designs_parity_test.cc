// The designs produce the same tokens, and the same logits at every boundary.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "ahead/llm_pipeline.h"
#include "support/compare.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

const std::vector<std::int64_t> kLadder = {64, 128, 192, 320};
constexpr std::int64_t kNewTokens = 240;
/// Steps compared on either side of a boundary.
constexpr std::int64_t kSide = 8;

struct DesignRun {
  RunResult result;
  std::map<std::int64_t, std::vector<float>> logits;  ///< by position
};

DesignRun run_design(const Model& model, const Design& design) {
  PipelineConfig config;
  config.axes = axes_of(design, kLadder);
  LLMPipeline pipeline(model, "CPU", config);
  DesignRun run;
  GenerationConfig generation;
  generation.max_new_tokens = kNewTokens;
  generation.ignore_eos = true;
  generation.logits_observer = [&run](const StepLogits& step) {
    run.logits[step.position].assign(step.values.begin(), step.values.end());
  };
  run.result = pipeline.generate("The history of the lighthouse begins", generation);
  return run;
}

TEST(DesignsParity, GreedyTokensAreIdenticalAndLogitsAgreeAtEveryBoundary) {
  const Model model(smollm2_gguf());
  std::map<std::string, DesignRun> runs;
  for (const Design& design : designs()) {
    DesignRun& made = runs[std::string(design.name)] = run_design(model, design);
    ASSERT_EQ(made.result.error, "") << design.name;
    ASSERT_EQ(made.result.token_ids.size(), static_cast<std::size_t>(kNewTokens)) << design.name;
    EXPECT_EQ(made.result.boundaries.size(), design.last_rung_only ? 0U : 3U) << design.name;
  }
  const DesignRun& control = runs.at("b0");
  for (const auto& [name, made] : runs) {
    EXPECT_EQ(made.result.token_ids, control.result.token_ids) << name;
    ASSERT_EQ(made.logits.size(), control.logits.size()) << name;
    for (const BoundaryRecord& boundary : made.result.boundaries) {
      for (std::int64_t at = boundary.at_token - kSide; at < boundary.at_token + kSide; ++at) {
        const auto& ours = made.logits.at(at);
        const auto& theirs = control.logits.at(at);
        EXPECT_EQ(top1(ours), top1(theirs)) << name << " at " << at;
        EXPECT_GE(cosine(ours, theirs), 0.9999) << name << " at " << at;
      }
    }
  }
  // Eager and one-ahead run the same graphs: not a bit may differ, at any step.
  for (const auto& [position, logits] : runs.at("i1").logits) {
    ASSERT_EQ(logits, runs.at("i2").logits.at(position)) << "position " << position;
  }
}

constexpr std::size_t kPrompt = 40;
constexpr std::size_t kForced = 500;

/// Decisions of a kind: "use", "start".
std::size_t decisions(const RunResult& result, const std::string& what) {
  return static_cast<std::size_t>(
      std::count_if(result.trace.begin(), result.trace.end(), [&](const TraceEvent& event) {
        return event.row == "compiler" && event.name.rfind(what + " ", 0) == 0;
      }));
}

std::vector<std::vector<float>> run_forced(const Model& model, const std::vector<std::int32_t>& ids,
                                           Partition partition, std::optional<KvType> kv_type) {
  PipelineConfig config;
  config.axes.ladder = {64, 96, 128, 576};
  config.axes.partition = partition;
  config.kv_type = kv_type;
  LLMPipeline pipeline(model, "CPU", config);
  GenerationConfig generation;
  generation.forced_token_ids.assign(ids.begin() + kPrompt, ids.end());
  std::vector<std::vector<float>> rows;
  generation.logits_observer = [&](const StepLogits& step) {
    rows.emplace_back(step.values.begin(), step.values.end());
  };
  const RunResult result = pipeline.generate(std::span(ids).first(kPrompt), generation);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.boundaries.size(), 3U);
  // Of the planner's forms, both are compared with the control.
  if (partition == Partition::kAttention) EXPECT_GE(decisions(result, "use"), 1U);
  return rows;
}

TEST(DesignsParity, EveryCutAgreesWithTheWholeGraphOverAForcedText) {
  const Model model(smollm2_gguf());
  std::ifstream file(AHEAD_SOURCE_DIR "/data/forced.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::int32_t> ids = model.encode(text.substr(0, 16 * (kPrompt + kForced)));
  ASSERT_GE(ids.size(), kPrompt + kForced);
  ids.resize(kPrompt + kForced);
  const auto control = run_forced(model, ids, Partition::kWhole, KvType::kF32);
  ASSERT_EQ(control.size(), kForced);
  // The cut at attention in what it stores by default, and in what `whole` does.
  for (const auto& [partition, kv_type] : std::vector<std::pair<Partition, std::optional<KvType>>>{
           {Partition::kAttention, std::nullopt},
           {Partition::kAttention, KvType::kF32},
           {Partition::blocks(10), KvType::kF32}}) {
    SCOPED_TRACE(to_string(partition));
    // A layer's weights as inputs are slow on this device: behind the last boundary a few tokens
    // do, unless AHEAD_LONG_TESTS is set.
    const bool blocks = partition.kind == Partition::Kind::kBlocks;
    const std::size_t tokens = blocks && std::getenv("AHEAD_LONG_TESTS") == nullptr ? 110 : kForced;
    const std::vector<std::int32_t> some(ids.begin(), ids.begin() + kPrompt + tokens);
    const auto made = run_forced(model, some, partition, kv_type);
    ASSERT_EQ(made.size(), tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
      EXPECT_GE(cosine(made[i], control[i]), 0.9999) << "step " << i;
      EXPECT_EQ(top1(made[i]), top1(control[i])) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace ahead::test
