// Products of panels beside the device's own, on the CPU device.
#include "graph/panel_product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/negative.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/subtract.hpp"
#include "openvino/runtime/core.hpp"
#include "openvino/runtime/properties.hpp"

namespace ahead::graph {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Constant;

struct Form {
  ov::element::Type codes = ov::element::u4;
  ov::element::Type zero_points = ov::element::f16;  ///< dynamic: none
  bool single_zero_point = false;
  float zero_point_at = 7.25F;  ///< the first; others are spread around it
  std::size_t rows = 48;
  std::size_t group = 32;
};

NodeOutput converted(const std::shared_ptr<Constant>& constant) {
  return std::make_shared<ov::op::v0::Convert>(constant, ov::element::f32);
}

constexpr std::size_t kColumns = 96;

/// [rows, 96], as the readers leave it.
NodeOutput weights_of(const Form& form, unsigned seed = 3) {
  const std::size_t groups = kColumns / form.group;
  std::mt19937 random(seed);
  std::vector<std::int8_t> codes(form.rows * kColumns);
  const int first = form.codes == ov::element::u4 || form.codes == ov::element::u8 ? 0 : -8;
  for (auto& code : codes) code = static_cast<std::int8_t>(static_cast<int>(random() % 16) + first);
  std::vector<float> scales(form.rows * groups);
  for (float& scale : scales) scale = 0.001F * static_cast<float>(1 + random() % 30);
  std::vector<float> zero_points(form.single_zero_point ? 1 : form.rows * groups);
  for (float& zero : zero_points) {
    zero = form.zero_point_at + 0.25F * static_cast<float>(random() % 4);
    if (form.zero_points.is_integral()) zero = std::round(zero);
  }
  const ov::Shape by_group{form.rows, groups, 1};
  NodeOutput weights =
      converted(Constant::create(form.codes, {form.rows, groups, form.group}, codes));
  if (form.zero_points != ov::element::dynamic) {
    weights = std::make_shared<ov::op::v1::Subtract>(
        weights,
        converted(Constant::create(form.zero_points,
                                   form.single_zero_point ? ov::Shape{} : by_group, zero_points)));
  }
  weights = std::make_shared<ov::op::v1::Multiply>(
      weights, converted(Constant::create(ov::element::f16, by_group, scales)));
  return std::make_shared<ov::op::v1::Reshape>(
      weights, Constant::create(ov::element::i64, {2}, {form.rows, kColumns}), false);
}

/// One [3, 1, 96] times each of the weights.
std::shared_ptr<ov::Model> products(const ov::OutputVector& weights) {
  const auto x =
      std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::Shape{3, 1, kColumns});
  ov::ResultVector results;
  for (const NodeOutput& matrix : weights) {
    const auto y = std::make_shared<ov::op::v0::MatMul>(x, matrix, false, true);
    results.push_back(
        std::make_shared<ov::op::v0::Result>(std::make_shared<ov::op::v0::Negative>(y)));
  }
  return std::make_shared<ov::Model>(results, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> product(const Form& form) { return products({weights_of(form)}); }

/// All outputs, one behind the other.
std::vector<float> run(const std::shared_ptr<ov::Model>& graph) {
  static ov::Core core;
  auto request = core.compile_model(graph, "CPU", ov::hint::inference_precision(ov::element::f32),
                                    ov::hint::dynamic_quantization_group_size(0))
                     .create_infer_request();
  ov::Tensor x = request.get_input_tensor();
  for (std::size_t i = 0; i < x.get_size(); ++i) {
    x.data<float>()[i] = std::sin(static_cast<float>(i) * 0.37F);
  }
  request.infer();
  std::vector<float> made;
  for (std::size_t i = 0; i < graph->outputs().size(); ++i) {
    const ov::Tensor y = request.get_output_tensor(i);
    made.insert(made.end(), y.data<float>(), y.data<float>() + y.get_size());
  }
  return made;
}

class PanelProductTest : public testing::TestWithParam<Form> {};

INSTANTIATE_TEST_SUITE_P(
    Forms, PanelProductTest,
    testing::Values(Form{}, Form{.zero_points = ov::element::u8},
                    Form{.zero_points = ov::element::u8, .single_zero_point = true},
                    Form{.zero_points = ov::element::dynamic},
                    Form{.codes = ov::element::i4, .zero_points = ov::element::dynamic},
                    Form{.codes = ov::element::i4, .zero_point_at = 0.25F}, Form{.group = 8}));

TEST_P(PanelProductTest, IsTheDevicesOwn) {
  const std::vector<float> wanted = run(product(GetParam()));
  const auto graph = product(GetParam());
  ASSERT_EQ(use_panels(graph), 1U);
  EXPECT_EQ(graph->output(0).get_shape(), (ov::Shape{3, 1, 48}));
  const std::vector<float> made = run(graph);
  ASSERT_EQ(made.size(), wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], wanted[i], 2e-5) << i;
}

// To a device, operations of one type, one input and equal attributes are one.
TEST(PanelProductsTest, UnlikeWeightsOfOneInputStayApart) {
  const auto both = [] { return products({weights_of({}, 3), weights_of({}, 4)}); };
  const std::vector<float> wanted = run(both());
  const auto graph = both();
  ASSERT_EQ(use_panels(graph), 2U);
  EXPECT_THAT(run(graph), testing::Pointwise(testing::FloatNear(2e-5F), wanted));
}

TEST(PanelProductsTest, ProductsOfTheSameWeightsShareTheirPanels) {
  const NodeOutput weights = weights_of({});
  const auto graph = products({weights, weights});
  ASSERT_EQ(use_panels(graph), 2U);
  const std::vector<float> made = run(graph);
  const std::vector<float> first(made.begin(), made.begin() + std::ssize(made) / 2);
  const std::vector<float> second(made.begin() + std::ssize(made) / 2, made.end());
  EXPECT_EQ(first, second);
}

// The same numbers in another order of rows and columns are another matrix.
TEST(PanelProductsTest, WeightsThatAreReshapedToAnotherMatrixStayTheDevices) {
  const NodeOutput weights = std::make_shared<ov::op::v1::Reshape>(
      weights_of({.rows = 32}).get_node()->input_value(0),
      Constant::create(ov::element::i64, {2}, {kColumns, std::size_t{32}}), false);
  const auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::Shape{1, 32});
  EXPECT_EQ(use_panels(std::make_shared<ov::Model>(
                ov::ResultVector{std::make_shared<ov::op::v0::Result>(
                    std::make_shared<ov::op::v0::MatMul>(x, weights, false, true))},
                ov::ParameterVector{x})),
            0U);
}

// As compressed IR folders have it: weights in f16, brought to f32 at the end.
TEST(PanelProductsTest, AConversionBehindTheWeightsIsSeenThrough) {
  const Form form;
  const std::vector<float> wanted = run(product(form));
  const auto graph = products(
      {std::make_shared<ov::op::v0::Convert>(weights_of(form), ov::element::f32)->output(0)});
  ASSERT_EQ(use_panels(graph), 1U);
  EXPECT_THAT(run(graph), testing::Pointwise(testing::FloatNear(2e-5F), wanted));
}

class LeftAloneTest : public testing::TestWithParam<Form> {};

// Of 8 bits; with rows that fill no panel; with zero points that f16 cannot hold beside the 8 that
// a signed code's count begins with.
INSTANTIATE_TEST_SUITE_P(Forms, LeftAloneTest,
                         testing::Values(Form{.codes = ov::element::u8}, Form{.rows = 40},
                                         Form{.codes = ov::element::i4, .zero_point_at = 0.0001F}));

TEST_P(LeftAloneTest, TheProductStaysTheDevices) { EXPECT_EQ(use_panels(product(GetParam())), 0U); }

TEST(PanelProductsTest, AProductWithWhatIsNoWeightStaysTheDevices) {
  const auto a = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::Shape{2, 32});
  const auto b = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::Shape{16, 32});
  const auto y = std::make_shared<ov::op::v0::MatMul>(a, b, false, true);
  EXPECT_EQ(
      use_panels(std::make_shared<ov::Model>(
          ov::ResultVector{std::make_shared<ov::op::v0::Result>(y)}, ov::ParameterVector{a, b})),
      0U);
}

}  // namespace
}  // namespace ahead::graph
