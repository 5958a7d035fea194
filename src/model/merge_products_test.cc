// Products of one activation become one with the same numbers; what must stay apart stays.
#include "model/merge_products.h"

#include <gtest/gtest.h>

#include "model/test_graphs.h"
#include "openvino/op/add.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/subtract.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Constant;
using ov::op::v0::Convert;
using ov::op::v0::MatMul;
using ov::op::v1::VariadicSplit;
using test::NodeOutput;

constexpr std::size_t kInputs = 8;

NodeOutput to_f32(const NodeOutput& value) {
  return std::make_shared<Convert>(value, ov::element::f32);
}

/// Weights [outputs, 8] of 4 bits with a zero point and a scale for every `group` of them.
NodeOutput quantised(std::size_t outputs, std::size_t group, std::uint32_t seed,
                     const ov::element::Type& type = ov::element::u4) {
  const ov::Shape shape{outputs, kInputs / group, group};
  std::vector<int> values(outputs * kInputs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>((i * 7 + seed) % (type == ov::element::u4 ? 16 : 8));
  }
  const ov::Shape per_group{outputs, kInputs / group, 1};
  const auto half = [&](std::uint32_t of) {
    return to_f32(
        Constant::create(ov::element::f16, per_group, test::mixed(ov::shape_size(per_group), of)));
  };
  const auto centred = std::make_shared<ov::op::v1::Subtract>(
      to_f32(Constant::create(type, shape, values)), half(seed + 1));
  return std::make_shared<ov::op::v1::Reshape>(
      std::make_shared<ov::op::v1::Multiply>(centred, half(seed + 2)),
      test::ints({static_cast<std::int64_t>(outputs), kInputs}), false);
}

NodeOutput product(const NodeOutput& x, const NodeOutput& weights) {
  return std::make_shared<MatMul>(x, weights, false, true);
}

/// Graphs end in a product of their own, as a decoder does: the last one never merges.
std::shared_ptr<ov::Model> ending(const ov::OutputVector& values,
                                  const std::shared_ptr<ov::op::v0::Parameter>& x) {
  ov::OutputVector outputs;
  std::uint32_t seed = 100;
  for (const NodeOutput& value : values) {
    const auto width = static_cast<std::size_t>(
        value.get_partial_shape()[value.get_partial_shape().size() - 1].get_length());
    outputs.push_back(product(value, test::weights({2, width}, ++seed)));
  }
  return test::model_of(outputs, {x});
}

/// Merges, and expects `products` to be left besides the last ones, and the same numbers.
void expect_products(const std::shared_ptr<ov::Model>& graph, std::size_t products) {
  const auto before = test::run(*graph);
  merge_products(graph);
  graph->validate_nodes_and_infer_types();
  EXPECT_EQ(test::count_of<MatMul>(*graph), products + graph->get_results().size());
  const auto after = test::run(*graph);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(after[i].size(), before[i].size());
    for (std::size_t j = 0; j < before[i].size(); ++j) {
      EXPECT_NEAR(after[i][j], before[i][j], 1e-5) << "result " << i << " at " << j;
    }
  }
}

std::shared_ptr<ov::op::v0::Parameter> activation() { return test::input("x", {1, -1, kInputs}); }

TEST(MergeProducts, WeightsOfFourBitsAreJoinedBehindOneAnother) {
  const auto x = activation();
  const auto graph = ending({product(x, quantised(6, 4, 1)), product(x, quantised(2, 4, 5)),
                             product(x, quantised(2, 4, 9))},
                            x);
  expect_products(graph, 1);
  ASSERT_EQ(test::count_of<VariadicSplit>(*graph), 1U);
  std::size_t packed_bytes = 0;
  for (const auto& node : graph->get_ops()) {
    const auto constant = ov::as_type_ptr<Constant>(node);
    if (constant && constant->get_element_type() == ov::element::u4) {
      packed_bytes += constant->get_byte_size();
    }
  }
  EXPECT_EQ(packed_bytes, 10 * kInputs / 2);
}

TEST(MergeProducts, PlainWeightsAreJoined) {
  const auto x = activation();
  const auto half = [](std::size_t outputs, std::uint32_t seed) {
    return to_f32(Constant::create(ov::element::f16, {outputs, kInputs},
                                   test::mixed(outputs * kInputs, seed)));
  };
  expect_products(ending({product(x, half(3, 1)), product(x, half(5, 2))}, x), 1);
  expect_products(ending({product(x, test::weights({3, kInputs}, 1)),
                          product(x, test::weights({5, kInputs}, 2))},
                         x),
                  1);
}

TEST(MergeProducts, ABiasStaysBehindItsOwnSlice) {
  const auto x = activation();
  const auto biased = [&](std::size_t outputs, std::uint32_t seed) {
    return std::make_shared<ov::op::v1::Add>(product(x, quantised(outputs, 4, seed)),
                                             test::weights({outputs}, seed));
  };
  expect_products(ending({biased(4, 1), biased(2, 2)}, x), 1);
}

TEST(MergeProducts, AnotherCompressionIsAnotherProduct) {
  const auto x = activation();
  expect_products(ending({product(x, quantised(4, 4, 1)), product(x, quantised(4, 2, 1)),
                          product(x, quantised(4, 4, 1, ov::element::i8)),
                          product(x, test::weights({4, kInputs}, 1))},
                         x),
                  4);
}

TEST(MergeProducts, AnotherActivationIsAnotherProduct) {
  const auto x = activation();
  const auto y = std::make_shared<ov::op::v1::Add>(x, test::number(1));
  expect_products(ending({product(x, quantised(4, 4, 1)), product(y, quantised(4, 4, 2))}, x), 2);
}

TEST(MergeProducts, WeightsThatSomethingElseUsesStay) {
  const auto x = activation();
  const NodeOutput tied = quantised(4, 4, 1);
  const auto graph = ending({product(x, tied), product(x, quantised(4, 4, 2)),
                             std::make_shared<ov::op::v1::Multiply>(tied, test::number(2))},
                            x);
  expect_products(graph, 2);
}

TEST(MergeProducts, TheProductWithTheVocabularyStays) {
  const auto x = activation();
  const auto graph = test::model_of(
      {std::make_shared<ov::op::v1::Multiply>(product(x, quantised(4, 4, 1)), test::number(2)),
       product(x, quantised(4, 4, 2))},
      {x});
  expect_products(graph, 0);
}

TEST(MergeProducts, WeightsThatAreNotTransposedStay) {
  const auto x = activation();
  const auto plain = [&](std::uint32_t seed) {
    return std::make_shared<MatMul>(x, test::weights({kInputs, kInputs}, seed), false, false);
  };
  expect_products(ending({plain(1), plain(2)}, x), 2);
}

// A scale for every input looks like one for every output when there are as many of both.
TEST(MergeProducts, AScaleOfTheInputsIsNotTakenForOneOfTheOutputs) {
  const auto x = activation();
  const auto scaled = [&](std::uint32_t seed) {
    return product(x, std::make_shared<ov::op::v1::Multiply>(
                          test::weights({kInputs, kInputs}, seed), test::weights({kInputs}, seed)));
  };
  expect_products(ending({scaled(1), scaled(2)}, x), 2);
}

}  // namespace
}  // namespace ahead::model
