// Tiny folders of many families (make_tiny_ir.py, pack.py), as optimum-intel exports them: greedy
// tokens over the window and two boundaries are those of OpenVINO's own run of the dynamic model.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "ahead/llm_pipeline.h"
#include "parity/oracle.h"
#include "support/compare.h"

namespace ahead::test {
namespace {

const std::vector<std::int64_t> kLadder = {32, 64, 128};  ///< 100 tokens and more behind a prompt

/// The folder of a family, unpacked for the life of the test.
class Folder {
 public:
  explicit Folder(const std::string& family) {
    root_ = (std::filesystem::temp_directory_path() / "ahead-ir-XXXXXX").string();
    EXPECT_NE(::mkdtemp(root_.data()), nullptr);
    const std::string archive = std::string(AHEAD_SOURCE_DIR) + "/tests/ir/" + family + ".tar.gz";
    const std::string command = "tar -xzf '" + archive + "' -C '" + root_ + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    path_ = root_ + "/" + family;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(root_); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string root_;
  std::string path_;
};

/// The same for every run, and different for every length.
std::vector<std::int32_t> prompt_of(std::size_t tokens) {
  std::vector<std::int32_t> prompt;
  auto state = static_cast<std::uint32_t>(tokens);
  while (prompt.size() < tokens) {
    state = state * 1664525U + 1013904223U;
    prompt.push_back(static_cast<std::int32_t>(2 + (state >> 16U) % 256));
  }
  return prompt;
}

struct Case {
  Partition partition = Partition::kAttention;
  KvType kv_type = KvType::kF32;
  KvPolicy kv = KvPolicy::kInPlace;
  Schedule schedule = Schedule::kPlanned;
  std::int64_t chunk = 16;
};

std::string to_string(const Case& run) {
  return ahead::to_string(run.partition) + " " + std::string(ahead::to_string(run.kv_type)) + " " +
         std::string(ahead::to_string(run.kv)) + " " + std::string(ahead::to_string(run.schedule)) +
         " chunk " + std::to_string(run.chunk);
}

PipelineConfig config_of(const Case& run) {
  PipelineConfig config;
  config.axes = {
      .ladder = kLadder, .schedule = run.schedule, .kv = run.kv, .partition = run.partition};
  config.kv_type = run.kv_type;
  config.prefill_chunk = run.chunk;
  return config;
}

/// Holds sequences against the oracle along the oracle's own tokens: one wrong choice must not hide
/// what follows it.
class Comparison {
 public:
  Comparison(const Model& model, const Case& run, const std::vector<Greedy>& expected,
             std::span<const std::size_t> prompts)
      : run_(run), expected_(expected) {
    LLMPipeline pipeline(model, "CPU", config_of(run));
    for (std::size_t row = 0; row < expected.size(); ++row) {
      GenerationConfig generation;
      const auto& ids = expected[row].ids;
      generation.forced_token_ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(prompts[row]),
                                         ids.end());
      generation.logits_observer = [&](const StepLogits& step) { look(row, step); };
      const RunResult result = pipeline.generate(std::span(ids).first(prompts[row]), generation);
      EXPECT_EQ(result.error, "");
      EXPECT_GE(result.boundaries.size(), 1U);
    }
  }

  void look(std::size_t row, const StepLogits& step) {
    const auto& expected = expected_[row].logits.at(static_cast<std::size_t>(step.position));
    ASSERT_EQ(step.values.size(), expected.size());
    // Rounding to f16 turns what is nearly a tie; nothing else may.
    const double least = run_.kv_type == KvType::kF32 ? 0.999999 : 0.9999;
    EXPECT_GE(cosine(step.values, expected), least) << "position " << step.position;
    const float best = expected[top1(expected)];
    const float chosen = expected[top1(step.values)];
    EXPECT_LE(best - chosen, run_.kv_type == KvType::kF32 ? 1e-4F : 0.05F)
        << "position " << step.position;
    ++compared;
  }

  std::size_t compared = 0;

 private:
  const Case& run_;
  const std::vector<Greedy>& expected_;
};

class IrFamily : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Families, IrFamily,
                         testing::Values("deepseek_v3", "gemma2", "gemma3", "gpt2", "gpt_neox",
                                         "gpt_oss", "granite", "llama", "mistral_window", "olmo2",
                                         "phi", "phi3", "phi3_window", "qwen2", "qwen3",
                                         "qwen3_moe", "smollm3", "stablelm"),
                         [](const auto& family) { return family.param; });

bool has_window(const std::string& family) {
  for (const char* name : {"gemma2", "gemma3", "gpt_oss", "mistral_window", "phi3_window"}) {
    if (family == name) return true;
  }
  return false;
}

bool has_two_attentions(const std::string& family) {
  return family == "gemma3" || family == "gpt_oss";
}

/// Every combination takes three minutes for all families: AHEAD_EVERY_COMBINATION=1 asks for them,
/// after a change of the attention. Otherwise every value is in one.
std::vector<Case> cases_of(const std::string& family) {
  constexpr Schedule kOneAhead = Schedule::kOneAhead;
  const bool every = std::getenv("AHEAD_EVERY_COMBINATION") != nullptr;
  std::vector<Case> cases = {{}};
  if (has_window(family)) {
    // Chunks longer than the window have tokens that do not see one another.
    cases.push_back({.partition = Partition::kWhole,
                     .kv_type = KvType::kF16,
                     .schedule = kOneAhead,
                     .chunk = 48});
  }
  if (has_two_attentions(family)) {
    cases.push_back(
        {.kv_type = KvType::kF16, .kv = KvPolicy::kCopyGrow, .schedule = kOneAhead, .chunk = 48});
    cases.push_back({.partition = Partition::kWhole,
                     .kv = KvPolicy::kSharedMax,
                     .schedule = kOneAhead,
                     .chunk = 33});
    cases.push_back({.partition = Partition::blocks(1), .schedule = kOneAhead, .chunk = 40});
  }
  if (!every) return cases;
  for (const Partition& partition :
       {Partition{Partition::kAttention}, Partition{Partition::kWhole}, Partition::blocks(1)}) {
    for (const KvType type : {KvType::kF32, KvType::kF16}) {
      for (const std::int64_t chunk : {1, 16, 48}) {
        cases.push_back(
            {.partition = partition, .kv_type = type, .schedule = kOneAhead, .chunk = chunk});
      }
    }
  }
  return cases;
}

/// What a family is held against: made once, it takes as long as a run.
struct Expected {
  explicit Expected(const std::string& folder) {
    for (const std::size_t tokens : kPrompts) {
      greedy.push_back(ir_oracle_greedy(folder, prompt_of(tokens),
                                        static_cast<std::size_t>(kLadder.back()) - tokens));
    }
  }
  /// Before the window, at it and behind it.
  static constexpr std::array<std::size_t, 3> kPrompts = {20, 32, 50};
  std::vector<Greedy> greedy;
};

/// The same sequences together, each of its own length.
void expect_batch(const Model& model, const Case& run, const Expected& expected) {
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::size_t tokens : Expected::kPrompts) prompts.push_back(prompt_of(tokens));
  LLMPipeline pipeline(model, "CPU", config_of(run));
  const RunResult result = pipeline.generate_batch(prompts, {.ignore_eos = true});
  EXPECT_EQ(result.error, "");
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    std::vector<std::int32_t> all = prompts[row];
    const std::vector<std::int32_t>& made = result.rows.at(row).token_ids;
    all.insert(all.end(), made.begin(), made.end());
    const std::vector<std::int32_t>& wanted = expected.greedy[row].ids;
    ASSERT_GE(all.size(), wanted.size());
    all.resize(wanted.size());
    EXPECT_EQ(all, wanted) << "sequence " << row;
  }
}

TEST_P(IrFamily, WritesWhatOpenVinoWritesOverTheWindowAndTwoBoundaries) {
  const Folder folder(GetParam());
  const Model model(folder.path());
  if (has_window(GetParam())) {
    ASSERT_EQ(model.facts().windows.size(), 1U);
    EXPECT_EQ(model.facts().windows.front().tokens, 32);
  }
  const Expected expected(folder.path());
  for (const Case& run : cases_of(GetParam())) {
    SCOPED_TRACE(to_string(run));
    const Comparison comparison(model, run, expected.greedy, Expected::kPrompts);
    EXPECT_EQ(comparison.compared, 108U + 96 + 78);
  }
  std::vector<Partition> partitions = {Partition::kAttention};
  if (has_two_attentions(GetParam())) {
    partitions.insert(partitions.end(), {Partition::kWhole, Partition::blocks(1)});
  }
  for (const Partition& partition : partitions) {
    const Case run{.partition = partition, .schedule = Schedule::kOneAhead, .chunk = 24};
    SCOPED_TRACE("three together, " + to_string(run));
    expect_batch(model, run, expected);
  }
}

}  // namespace
}  // namespace ahead::test
