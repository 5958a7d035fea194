// The four designs produce the same tokens, and the same logits at every boundary.
#include <gtest/gtest.h>

#include <map>

#include "ahead/llm_pipeline.h"
#include "support/compare.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

const std::vector<std::int64_t> kLadder = {64, 128, 256, 512};
constexpr std::int64_t kNewTokens = 480;
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

}  // namespace
}  // namespace ahead::test
