// The designs, forced along the same tokens, have the same logits at every step. Forced, because
// which form makes a token depends on when compiles end, and forms may turn a tie. On the small
// model: what designs differ in is when programs come and where rows lie; the cuts' arithmetic on
// real weights is oracle_parity_test.cc's.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ahead/llm_pipeline.h"
#include "parity/forced_text.h"
#include "support/compare.h"

namespace ahead::test {
namespace {

const std::vector<std::int64_t> kLadder = {64, 128, 192, 320};
constexpr std::size_t kPrompt = 7;
constexpr std::size_t kForced = 240;
/// Logits that are closer than that are as likely as one another.
constexpr float kTie = 0.01F;

struct DesignRun {
  RunResult result;
  std::map<std::int64_t, std::vector<float>> logits;  ///< by position
};

DesignRun run_design(const Design& design) {
  PipelineConfig config;
  config.axes = axes_of(design, kLadder);
  LLMPipeline pipeline(qwen2(), "CPU", config);
  const auto ids = text_ids(qwen2(), kPrompt + kForced);
  DesignRun run;
  GenerationConfig generation;
  generation.forced_token_ids.assign(ids.begin() + kPrompt, ids.end());
  generation.logits_observer = [&run](const StepLogits& step) {
    run.logits[step.position].assign(step.values.begin(), step.values.end());
  };
  run.result = pipeline.generate(std::span(ids).first(kPrompt), generation);
  EXPECT_EQ(run.result.token_ids, generation.forced_token_ids);
  return run;
}

TEST(DesignsParity, LogitsAgreeAtEveryStepOfAForcedText) {
  std::map<std::string, DesignRun> runs;
  for (const Design& design : designs()) {
    DesignRun& made = runs[std::string(design.name)] = run_design(design);
    ASSERT_EQ(made.result.error, "") << design.name;
    EXPECT_EQ(made.result.boundaries.size(), design.last_rung_only ? 0U : 3U) << design.name;
  }
  const DesignRun& control = runs.at("b0");
  ASSERT_EQ(control.logits.size(), kForced);
  for (const auto& [name, made] : runs) {
    ASSERT_EQ(made.logits.size(), control.logits.size()) << name;
    for (const auto& [at, theirs] : control.logits) {
      const std::vector<float>& ours = made.logits.at(at);
      EXPECT_GE(cosine(ours, theirs), 0.9999) << name << " at " << at;
      EXPECT_LE(theirs[top1(theirs)] - theirs[top1(ours)], kTie) << name << " at " << at;
    }
  }
  // Eager and one-ahead run the same graphs: not a bit may differ, at any step.
  EXPECT_EQ(runs.at("i1").logits, runs.at("i2").logits);
}

}  // namespace
}  // namespace ahead::test
