// A profile where nothing was measured: the guesses a request begins with. May use: plan,
// include/ahead.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ahead/planning.h"
#include "plan/estimate.h"

namespace ahead {
namespace {

// Of a decoder as it is cut: measured on the models at hand.
constexpr std::int64_t kAttentionOperations = 20;
constexpr std::int64_t kLayerOperations = 25;  // the attention apart
constexpr std::int64_t kEndOperations = 20;    // embedding and head

Cost guessed(const plan::Estimate& estimate) { return {estimate.typical_s, CostSource::kGuessed}; }

struct Sizes {
  std::int64_t shared_parts = 1;
  std::int64_t shared_operations = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t rung_operations = 0;
  std::int64_t rung_bytes = 0;
};

struct Shape {
  std::int64_t weight_bytes = 0;
  std::int64_t row_bytes = 0;  ///< of cache
  std::vector<std::int64_t> ladder;
};

StepProfile step_of(const Sizes& sizes, const Shape& shape, std::int64_t tokens) {
  StepProfile step{
      .tokens = tokens,
      .shared_compile = guessed(plan::guess_compile({.parts = sizes.shared_parts,
                                                     .operations = sizes.shared_operations,
                                                     .weight_bytes = sizes.shared_bytes}))};
  const Cost compile = guessed(
      plan::guess_compile({.operations = sizes.rung_operations, .weight_bytes = sizes.rung_bytes}));
  for (const std::int64_t rung : shape.ladder) {
    step.rung_compile[rung] = compile;
    step.step[rung] = guessed(plan::guess_step({.weight_bytes = shape.weight_bytes,
                                                .cache_bytes = shape.row_bytes * rung,
                                                .tokens = tokens}));
  }
  return step;
}

}  // namespace

Profile guess_profile(const ModelFacts& facts, std::int64_t weight_bytes) {
  Profile profile{
      .name = facts.path,
      .about = {{"model", facts.path}},
      .notes = {"nothing was measured: every cost is guessed from the model's size, for "
                "one core of a CPU; --profile takes a file of measured ones"},
      .chunks = {128},
      .tokens = 1};
  profile.ladder = default_ladder({.trained_context = facts.trained_context}).rungs;
  profile.tokens = profile.ladder.back();

  // Caches of f16, of which a guess need not know more.
  const Shape shape{weight_bytes,
                    facts.kv_values(profile.ladder.back()) * 2 / profile.ladder.back(),
                    profile.ladder};
  const std::int64_t layers = facts.layers;
  const std::int64_t ends = kEndOperations;
  const std::int64_t body = layers * kLayerOperations + ends;
  const std::int64_t attention = layers * kAttentionOperations;
  const struct {
    Partition partition;
    bool any_tokens;
    Sizes sizes;
  } forms[] = {
      {Partition::kWhole, false, {0, 0, 0, body + attention, weight_bytes}},
      {Partition::kAttention, true, {layers + 1, body, weight_bytes, kAttentionOperations, 0}},
  };
  for (const auto& form : forms) {
    PartitionProfile partition{.partition = form.partition,
                               .shared_serves_any_tokens = form.any_tokens};
    for (const std::int64_t tokens : {1, 32, 128, 512, 1024}) {
      partition.steps.push_back(step_of(form.sizes, shape, tokens));
    }
    profile.partitions.push_back(std::move(partition));
  }
  return profile;
}

}  // namespace ahead
