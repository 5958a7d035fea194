// One step of a real model's joined bodies: with the host's products of 4-bit weights it is what it
// is with the device's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compile/openvino_backend.h"
#include "compile/program.h"
#include "graph/panel_product.h"
#include "graph/partition.h"
#include "model/reader.h"
#include "openvino/runtime/core.hpp"
#include "support/compare.h"
#include "support/test_models.h"

namespace ahead::test {
namespace {

constexpr std::int64_t kRung = 128;

graph::PartitionedDecoder joined(const std::shared_ptr<const model::Decoder>& decoder,
                                 bool panels) {
  return {decoder,
          {.partition = Partition::kAttention,
           .cache = {.type = ElementType::kF32, .block_rows = 128},
           .joined = true,
           .panels = panels}};
}

constexpr std::array<std::int32_t, 3> kTokens = {5, 504, 17000};

/// Logits after each token, nothing in front of it.
std::vector<std::vector<float>> steps(compile::OpenVinoBackend& backend, std::int64_t tier) {
  const graph::ProgramShape shape{.rung = kRung, .tier = tier};
  graph::ProgramSpec spec = backend.spec(shape);
  std::vector<std::shared_ptr<compile::Artifact>> artifacts;
  for (std::size_t part = 0; part < spec.parts.size(); ++part) {
    artifacts.push_back(backend.compile(shape, part));
  }
  std::vector<std::vector<float>> memory;
  std::vector<compile::KeyValue> layers;
  for (const graph::ValueSpec& value : spec.values) {
    const bool is_k = value.role == graph::Role::kCacheK;
    if (!is_k && value.role != graph::Role::kCacheV) continue;
    layers.resize(std::max(layers.size(), static_cast<std::size_t>(value.layer) + 1));
    memory.emplace_back(element_count(value.shape));
    compile::KeyValue& layer = layers[static_cast<std::size_t>(value.layer)];
    (is_k ? layer.k : layer.v) = {value.type, value.shape, memory.back().data()};
  }
  compile::Program program(std::move(spec), std::move(artifacts));
  program.bind_cache(0, layers);
  std::vector<std::vector<float>> logits;
  for (const std::int32_t token : kTokens) {
    program.tokens()[0] = token;
    program.positions()[0] = 0;
    program.logit_rows()[0] = 0;
    program.run();
    logits.emplace_back(program.logits(0).begin(), program.logits(0).end());
  }
  return logits;
}

TEST(JoinedParity, TheHostsProductsAreTheDevices) {
  const auto core = std::make_shared<ov::Core>();
  const auto decoder =
      std::make_shared<const model::Decoder>(model::read_model(*core, smollm2_gguf()).decoder);

  const ov::NodeVector nodes = joined(decoder, true).build({.rung = kRung}, 0)->get_ops();
  const auto products = std::count_if(nodes.begin(), nodes.end(), [](const auto& node) {
    return ov::is_type<graph::PanelProduct>(node);
  });
  EXPECT_EQ(products, 4 * static_cast<std::ptrdiff_t>(decoder->layers.size()))
      << "q, k and v; attention's output; gate and up; down";

  std::vector<graph::PartitionedDecoder> tiers;
  tiers.push_back(joined(decoder, false));
  tiers.push_back(joined(decoder, true));
  compile::OpenVinoBackend backend({.core = core, .tiers = std::move(tiers), .device = "CPU"});
  const auto devices = steps(backend, 0);
  const auto hosts = steps(backend, 1);
  for (std::size_t at = 0; at < kTokens.size(); ++at) {
    EXPECT_GE(cosine(hosts[at], devices[at]), 0.9999999) << "token " << kTokens[at];
    EXPECT_EQ(top1(hosts[at]), top1(devices[at])) << "token " << kTokens[at];
  }
  EXPECT_NE(devices.front(), devices.back()) << "the tokens were read";
}

}  // namespace
}  // namespace ahead::test
