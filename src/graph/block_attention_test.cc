// The specialised attention against a double-precision reference, on the CPU device.
#include "graph/block_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "graph/program_spec.h"
#include "openvino/core/graph_util.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"
#include "openvino/openvino.hpp"

namespace ahead::graph {
namespace {

struct Case {
  const char* name;
  std::int64_t q_heads;
  std::int64_t kv_heads;
  std::int64_t dim;
  std::int64_t tokens;
  std::int64_t rung;
  std::int64_t block_rows;
  std::int64_t live;
  std::int64_t window = 0;
  bool sinks = false;
  std::int64_t value_dim = 0;

  [[nodiscard]] std::int64_t v_dim() const { return value_dim == 0 ? dim : value_dim; }
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Row-major inputs: cache [live][kv_head][dim], q [token][q_head][dim], new rows likewise.
struct Data {
  std::vector<float> q, k, v, cache_k, cache_v, sinks;
};

Data random_data(const Case& c) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::int64_t count) {
    std::vector<float> values(at(count));
    for (float& value : values) value = normal(random);
    return values;
  };
  Data data;
  data.q = fill(c.tokens * c.q_heads * c.dim);
  data.k = fill(c.tokens * c.kv_heads * c.dim);
  data.v = fill(c.tokens * c.kv_heads * c.v_dim());
  data.cache_k = fill(c.live * c.kv_heads * c.dim);
  data.cache_v = fill(c.live * c.kv_heads * c.v_dim());
  if (c.sinks) data.sinks = fill(c.q_heads);
  return data;
}

/// [token][q_head][dim]
std::vector<double> reference(const Case& c, const Data& data, double scale) {
  std::vector<double> out(at(c.tokens * c.q_heads * c.v_dim()));
  for (std::int64_t token = 0; token < c.tokens; ++token) {
    for (std::int64_t head = 0; head < c.q_heads; ++head) {
      const std::int64_t kv = head / (c.q_heads / c.kv_heads);
      const std::int64_t rows = c.live + token + 1;
      const auto element = [&](const std::vector<float>& cache, const std::vector<float>& fresh,
                               std::int64_t dim, std::int64_t row, std::int64_t d) {
        return row < c.live ? cache[at((row * c.kv_heads + kv) * dim + d)]
                            : fresh[at(((row - c.live) * c.kv_heads + kv) * dim + d)];
      };
      std::vector<double> weights(at(rows));
      double sum = c.sinks ? std::exp(static_cast<double>(data.sinks[at(head)])) : 0;
      const std::int64_t first =
          c.window > 0 ? std::max<std::int64_t>(0, rows - c.window) : std::int64_t{0};
      for (std::int64_t row = first; row < rows; ++row) {
        double score = 0;
        for (std::int64_t d = 0; d < c.dim; ++d) {
          score += static_cast<double>(data.q[at((token * c.q_heads + head) * c.dim + d)]) *
                   element(data.cache_k, data.k, c.dim, row, d);
        }
        weights[at(row)] = std::exp(score * scale);
        sum += weights[at(row)];
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t d = 0; d < c.v_dim(); ++d) {
          out[at((token * c.q_heads + head) * c.v_dim() + d)] +=
              weights[at(row)] / sum * element(data.cache_v, data.v, c.v_dim(), row, d);
        }
      }
    }
  }
  return out;
}

class BlockAttention : public testing::TestWithParam<Case> {};

TEST_P(BlockAttention, EqualsTheReference) {
  const Case c = GetParam();
  const Data data = random_data(c);
  const float scale = 1.0F / std::sqrt(static_cast<float>(c.dim));
  const std::int64_t blocks = c.rung / c.block_rows;

  const auto parameter = [](const ov::Shape& shape) {
    return std::make_shared<ov::op::v0::Parameter>(ov::element::f32, shape);
  };
  const auto q = parameter({1, at(c.tokens), at(c.q_heads), at(c.dim)});
  const auto k = parameter({1, at(c.tokens), at(c.kv_heads), at(c.dim)});
  const auto v = parameter({1, at(c.tokens), at(c.kv_heads), at(c.v_dim())});
  const auto cache_k = parameter({at(blocks), at(c.kv_heads), at(c.dim), at(c.block_rows)});
  const auto cache_v = parameter({at(blocks), at(c.kv_heads), at(c.block_rows), at(c.v_dim())});
  const std::int64_t lines = c.window > 0 ? c.tokens : 1;
  const auto bias = c.window > 0 ? parameter({at(lines), at(c.rung)}) : parameter({at(c.rung)});
  ov::ParameterVector parameters{q, k, v, cache_k, cache_v, bias};
  BlockAttentionInputs ports{
      .q = q, .k = k, .v = v, .cache_k = cache_k, .cache_v = cache_v, .bias = bias};
  if (c.sinks) {
    parameters.push_back(parameter({at(c.q_heads)}));
    ports.sinks = parameters.back();
  }
  const auto out = block_attention(ports, {.heads = {.q_heads = c.q_heads,
                                                     .kv_heads = c.kv_heads,
                                                     .head_dim = c.dim,
                                                     .value_dim = c.value_dim,
                                                     .window = c.window},
                                           .tokens = c.tokens,
                                           .rows = c.rung,
                                           .block_rows = c.block_rows,
                                           .scale = scale});
  ASSERT_EQ(out.get_shape(), (ov::Shape{1, at(c.tokens), at(c.q_heads), at(c.v_dim())}));

  ov::Core core;
  auto request = core.compile_model(std::make_shared<ov::Model>(
                                        ov::ResultVector{std::make_shared<ov::op::v0::Result>(out)},
                                        parameters),
                                    "CPU", ov::hint::inference_precision(ov::element::f32))
                     .create_infer_request();
  // Rows that hold nothing have finite rubbish: the bias alone must hide them.
  std::vector<float> blocked_k(at(c.rung * c.kv_heads * c.dim), 3.0F);
  std::vector<float> blocked_v(at(c.rung * c.kv_heads * c.v_dim()), -5.0F);
  std::vector<float> mask(at(lines * c.rung), kDeadRow);
  for (std::int64_t row = 0; row < c.live; ++row) {
    // With a window the cache is a ring, in which later rows stand in the places of earlier ones.
    const std::int64_t place = row % c.rung;
    for (std::int64_t line = 0; line < lines; ++line) {
      const bool seen = c.window == 0 || c.live + line - row < c.window;
      mask[at(line * c.rung + place)] = seen ? 0 : kDeadRow;
    }
    const std::int64_t block = place / c.block_rows;
    const std::int64_t inside = place % c.block_rows;
    for (std::int64_t head = 0; head < c.kv_heads; ++head) {
      const std::int64_t from = row * c.kv_heads + head;
      const std::int64_t group = block * c.kv_heads + head;
      for (std::int64_t d = 0; d < c.dim; ++d) {
        blocked_k[at((group * c.dim + d) * c.block_rows + inside)] =
            data.cache_k[at(from * c.dim + d)];
      }
      for (std::int64_t d = 0; d < c.v_dim(); ++d) {
        blocked_v[at((group * c.block_rows + inside) * c.v_dim() + d)] =
            data.cache_v[at(from * c.v_dim() + d)];
      }
    }
  }
  std::vector<const std::vector<float>*> inputs = {&data.q,    &data.k,    &data.v,
                                                   &blocked_k, &blocked_v, &mask};
  if (c.sinks) inputs.push_back(&data.sinks);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ov::Tensor tensor = request.get_input_tensor(i);
    ASSERT_EQ(tensor.get_size(), inputs[i]->size());
    std::copy(inputs[i]->begin(), inputs[i]->end(), tensor.data<float>());
  }
  request.infer();

  const float* made = request.get_output_tensor().data<const float>();
  const std::vector<double> wanted = reference(c, data, static_cast<double>(scale));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(made[i], wanted[i], 2e-5) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BlockAttention,
    testing::Values(Case{"decode, grouped", 9, 3, 64, 1, 256, 128, 200},
                    Case{"decode, empty cache", 4, 2, 16, 1, 64, 64, 0},
                    Case{"decode, full cache", 4, 2, 16, 1, 128, 32, 128},
                    Case{"decode, one KV head", 8, 1, 32, 1, 128, 64, 77},
                    Case{"decode, no groups", 4, 4, 16, 1, 64, 16, 33},
                    Case{"prefill, empty cache", 9, 3, 64, 8, 64, 64, 0},
                    Case{"prefill, grouped", 8, 2, 16, 12, 128, 32, 50},
                    Case{"prefill, no groups", 3, 3, 8, 5, 32, 16, 32},
                    Case{"window, decode", 9, 3, 64, 1, 96, 32, 250, 64},
                    Case{"window of one", 4, 2, 16, 1, 32, 16, 20, 1},
                    Case{"window, not full", 4, 2, 16, 6, 48, 16, 9, 30},
                    Case{"window, prefill", 8, 2, 16, 12, 48, 16, 77, 32},
                    Case{"window, no groups", 3, 3, 8, 7, 48, 16, 100, 20},
                    Case{"window below the chunk", 8, 2, 16, 40, 32, 16, 50, 9},
                    Case{"sinks, decode", 9, 3, 64, 1, 96, 32, 50, 0, true},
                    Case{"sinks, prefill", 8, 2, 16, 12, 64, 32, 50, 0, true},
                    Case{"sinks and window", 8, 4, 16, 9, 48, 16, 90, 32, true},
                    Case{"narrow V, decode", 4, 4, 24, 1, 64, 16, 33, 0, false, 16},
                    Case{"wide V, grouped prefill", 8, 2, 16, 12, 64, 32, 50, 0, false, 40},
                    Case{"narrow V, window", 8, 4, 24, 9, 48, 16, 90, 32, true, 16}));

/// Every layer of every program carries the causal triangle: one per group would multiply it.
TEST(BlockAttentionSize, TheCausalBiasIsOneTriangleForAllGroups) {
  const auto parameter = [](const ov::Shape& shape) {
    return std::make_shared<ov::op::v0::Parameter>(ov::element::f32, shape);
  };
  const auto largest_constant = [&](std::int64_t tokens) {
    const auto new_rows = parameter({1, at(tokens), 2, 16});
    const auto out = block_attention({.q = parameter({1, at(tokens), 8, 16}),
                                      .k = new_rows,
                                      .v = new_rows,
                                      .cache_k = parameter({2, 2, 16, 32}),
                                      .cache_v = parameter({2, 2, 32, 16}),
                                      .bias = parameter({64})},
                                     {.heads = {.q_heads = 8, .kv_heads = 2, .head_dim = 16},
                                      .tokens = tokens,
                                      .rows = 64,
                                      .block_rows = 32,
                                      .scale = 1});
    std::size_t largest = 0;
    ov::traverse_nodes(ov::NodeVector{out.get_node_shared_ptr()},
                       [&](const std::shared_ptr<ov::Node>& node) {
                         if (ov::is_type<ov::op::v0::Constant>(node)) {
                           largest = std::max(largest, ov::shape_size(node->get_output_shape(0)));
                         }
                       });
    return largest;
  };
  EXPECT_EQ(largest_constant(24), 24U * 24U);
  EXPECT_LE(largest_constant(1), 4U);  // only shapes and orders
}

}  // namespace
}  // namespace ahead::graph
