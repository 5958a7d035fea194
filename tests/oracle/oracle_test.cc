// Tiny GGUF files of many families (tiny_gguf.py) against llama.cpp, which shares no code with what
// reads and runs them here: expected.json has what it chose (llamacpp.mjs).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "support/compare.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

/// What llama.cpp went on with behind a prompt.
struct Continuation {
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> ids;
  /// How much more likely each of them was than the next best.
  std::vector<double> ratios;
};

/// As llamacpp.mjs makes it.
std::vector<std::int32_t> prompt_of(std::int32_t length) {
  std::vector<std::int32_t> prompt;
  for (std::int32_t i = 0; i < length; ++i) prompt.push_back(33 + (i * 37 + length * 11) % 200);
  return prompt;
}

const nlohmann::json& expected() {
  static const nlohmann::json kExpected =
      nlohmann::json::parse(std::ifstream(AHEAD_SOURCE_DIR "/tests/oracle/expected.json"));
  return kExpected;
}

std::vector<Continuation> runs_of(const std::string& family) {
  std::vector<Continuation> runs;
  for (const auto& run : expected().at("files").at(family)) {
    runs.push_back({.prompt = prompt_of(run.at("prompt").get<std::int32_t>()),
                    .ids = run.at("ids").get<std::vector<std::int32_t>>(),
                    .ratios = run.at("ratios").get<std::vector<double>>()});
  }
  return runs;
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const auto& [name, runs] : expected().at("files").items()) names.push_back(name);
  return names;
}

/// The best logit over the second best, as a ratio of chances.
double ratio_of(std::span<const float> logits) {
  std::vector<float> sorted(logits.begin(), logits.end());
  std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end(), std::greater<>());
  return std::exp(static_cast<double>(sorted[0]) - sorted[1]);
}

class LlamaCpp : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Families, LlamaCpp, testing::ValuesIn(families()), [](const auto& family) {
  std::string name = family.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

struct Shape {
  Partition partition;
  std::int64_t chunk = 16;
};

TEST_P(LlamaCpp, ChoosesTheSameTokens) {
  const Model model(dependency("tiny-gguf") + "/" + GetParam() + ".gguf");
  EXPECT_NE(model.facts().verified_by, "") << "the table (model/verified.cc) knows this test";
  std::vector<Shape> shapes = {{Partition::kAttention}};
  if (!model.facts().windows.empty()) {
    // Chunks longer than the window, and the graph in one piece.
    shapes.push_back({Partition::kAttention, 48});
    shapes.push_back({Partition::kWhole, 40});
  }
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(to_string(shape.partition) + " chunk " + std::to_string(shape.chunk));
    PipelineConfig config;
    config.axes.ladder = {64, 128};
    config.axes.partition = shape.partition;
    config.kv_type = KvType::kF32;
    config.prefill_chunk = shape.chunk;
    LLMPipeline pipeline(model, "CPU", config);
    std::size_t compared = 0;
    for (const Continuation& run : runs_of(GetParam())) {
      std::size_t step = 0;
      GenerationConfig generation;
      generation.forced_token_ids = run.ids;  // one wrong choice must not hide what follows
      generation.logits_observer = [&](const StepLogits& at) {
        const auto wanted = static_cast<std::size_t>(run.ids.at(step));
        const double ratio = run.ratios.at(step);
        const float best = at.values[top1(at.values)];
        // What is nearly a tie there may be one here.
        EXPECT_LE(best - at.values[wanted], 0.01F)
            << "prompt of " << run.prompt.size() << ", token " << step;
        EXPECT_NEAR(std::log(ratio_of(at.values)), std::log(ratio), 0.02)
            << "prompt of " << run.prompt.size() << ", token " << step;
        ++step;
        ++compared;
      };
      const RunResult result = pipeline.generate(run.prompt, generation);
      EXPECT_EQ(result.error, "");
    }
    EXPECT_EQ(compared, 5U * 64);
  }
}

}  // namespace
}  // namespace ahead::test
