// Sequences decoded together have the logits they have alone, at batch 1, 3 and 8, on every
// partition, across boundaries that each comes to at its own time.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "parity/forced_text.h"
#include "support/compare.h"

namespace ahead::test {
namespace {

const std::vector<std::int64_t> kLadder = {32, 48, 80, 128};
/// Where a rung is the model again: no longer than three sequences need.
const std::vector<std::int64_t> kShortLadder = {32, 48, 80};
/// Tokens each sequence is forced along; every one crosses a boundary at least.
constexpr std::size_t kForced = 30;

/// The forced text, and where sequences go on from it.
struct Text {
  std::vector<std::int32_t> ids;
  static constexpr std::size_t kBegin = 100;
};

/// Beginnings of lengths on either side of the rungs, all of which go on in the same way.
std::vector<std::vector<std::int32_t>> prompts(const Text& text, std::size_t count) {
  const std::vector<std::size_t> lengths = {5, 31, 32, 33, 12, 60, 20, 45};
  std::vector<std::vector<std::int32_t>> made;
  const auto end = text.ids.begin() + Text::kBegin;
  for (std::size_t row = 0; row < count; ++row) {
    made.emplace_back(end - static_cast<std::ptrdiff_t>(lengths[row]), end);
  }
  return made;
}

/// Logits by sequence and position.
using Logits = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<float>>;

Logits run(LLMPipeline& pipeline, const Text& text,
           const std::vector<std::vector<std::int32_t>>& sequences,
           RunResult* result_out = nullptr) {
  Logits logits;
  GenerationConfig generation;
  const auto begin = text.ids.begin() + Text::kBegin;
  generation.forced_token_ids.assign(begin, begin + kForced);
  generation.logits_observer = [&](const StepLogits& step) {
    logits[{step.row, step.position}].assign(step.values.begin(), step.values.end());
  };
  const RunResult result = pipeline.generate_batch(sequences, generation);
  EXPECT_EQ(result.error, "");
  if (result_out != nullptr) *result_out = result;
  return logits;
}

PipelineConfig with(Partition partition, KvPolicy kv, std::optional<KvType> type,
                    Schedule schedule = Schedule::kOneAhead) {
  PipelineConfig config;
  config.axes.ladder = partition == Partition::kAttention ? kLadder : kShortLadder;
  config.axes.partition = partition;
  config.axes.kv = kv;
  config.axes.schedule = schedule;
  config.kv_type = type;
  config.resident_rungs = 8;  // what one sequence compiled the next one uses
  return config;
}

struct Case {
  const char* name;
  PipelineConfig config;
  std::vector<std::size_t> batches;
  float tie;  ///< logits closer than that are as likely as one another
};

class BatchParity : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Partitions, BatchParity,
    testing::Values(
        Case{"attention",
             with(Partition::kAttention, KvPolicy::kInPlace, std::nullopt),
             {1, 3, 8},
             0.01F},
        Case{"planned",
             with(Partition::kAttention, KvPolicy::kInPlace, std::nullopt, Schedule::kPlanned),
             {1, 3, 8},
             0.01F},
        Case{"attentionInF32",
             with(Partition::kAttention, KvPolicy::kInPlace, KvType::kF32),
             {8},
             0},
        Case{"whole", with(Partition::kWhole, KvPolicy::kCopyGrow, KvType::kF32), {3}, 0},
        Case{"blocks", with(Partition::blocks(10), KvPolicy::kInPlace, KvType::kF32), {3}, 0}),
    [](const auto& instance) { return instance.param.name; });

TEST_P(BatchParity, EverySequenceHasTheLogitsItHasAlone) {
  const Case& test = GetParam();
  const Text text{text_ids(smollm2(), Text::kBegin + kForced)};
  // One pipeline for all of them: batches share what they can with what ran before.
  LLMPipeline pipeline(smollm2(), "CPU", test.config);
  Logits alone;
  const auto sequences = prompts(text, test.batches.back());
  for (std::size_t row = 0; row < sequences.size(); ++row) {
    for (auto& [key, values] : run(pipeline, text, {sequences[row]})) {
      alone[{static_cast<std::int64_t>(row), key.second}] = std::move(values);
    }
  }
  for (const std::size_t batch : test.batches) {
    SCOPED_TRACE("batch " + std::to_string(batch));
    RunResult result;
    const Logits together = run(pipeline, text, prompts(text, batch), &result);
    std::size_t compared = 0;
    for (const auto& [key, values] : together) {
      const std::vector<float>& own = alone.at(key);
      const auto where = [&] {
        return "row " + std::to_string(key.first) + " position " + std::to_string(key.second);
      };
      ASSERT_GE(cosine(values, own), 0.9999) << where();
      // A product of several rows sums in another order than one of a single row; what that leaves
      // is rounded anew where the cache is f16, and may turn a tie.
      if (top1(values) != top1(own)) {
        ASSERT_LE(own[top1(own)] - own[top1(values)], test.tie) << where();
      }
      ++compared;
    }
    std::size_t expected = 0;
    for (const RowResult& row : result.rows) expected += static_cast<std::size_t>(row.generated);
    EXPECT_EQ(compared, expected);
    // The planner may begin on the rung where a prompt ends.
    const bool planned = test.config.axes.schedule == Schedule::kPlanned;
    EXPECT_GE(result.boundaries.size(), planned ? 1 : batch)
        << "every sequence crosses at least one";
  }
}

}  // namespace
}  // namespace ahead::test
