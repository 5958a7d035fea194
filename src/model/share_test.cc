// Equal computations become one; what only looks equal does not.
#include "model/share.h"

#include <gtest/gtest.h>

#include "model/test_graphs.h"
#include "openvino/op/add.hpp"
#include "openvino/op/cos.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/softmax.hpp"
#include "openvino/op/unsqueeze.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Cos;
using ov::op::v0::Unsqueeze;
using test::NodeOutput;

TEST(Share, WhatEveryLayerDerivesFromOneInputIsComputedOnce) {
  const auto positions = test::input("positions", {1, -1});
  ov::OutputVector layers;
  for (int layer = 0; layer < 3; ++layer) {
    layers.push_back(
        std::make_shared<Cos>(std::make_shared<Unsqueeze>(positions, test::ints({-1}))));
  }
  const auto graph = test::model_of(layers, {positions});
  const auto before = test::run(*graph);
  share_repeated(graph);
  EXPECT_EQ(test::count_of<Unsqueeze>(*graph), 1U);
  EXPECT_EQ(test::count_of<Cos>(*graph), 1U);
  EXPECT_EQ(test::run(*graph), before);
}

TEST(Share, AnotherConstantOrAnotherAttributeIsAnotherComputation) {
  const auto x = test::input("x", {2, 3});
  const auto graph = test::model_of(
      {std::make_shared<Unsqueeze>(x, test::ints({0})),
       std::make_shared<Unsqueeze>(x, test::ints({1})), std::make_shared<ov::op::v8::Softmax>(x, 0),
       std::make_shared<ov::op::v8::Softmax>(x, 1)},
      {x});
  const auto before = test::run(*graph);
  share_repeated(graph);
  EXPECT_EQ(test::count_of<Unsqueeze>(*graph), 2U);
  EXPECT_EQ(test::count_of<ov::op::v8::Softmax>(*graph), 2U);
  EXPECT_EQ(test::run(*graph), before);
}

TEST(Share, WeightsThatAreEqualStayApart) {
  const auto x = test::input("x", {1, 2});
  const auto scaled = [&] {
    return std::make_shared<ov::op::v1::Multiply>(test::number(2), test::number(3));
  };
  const auto graph = test::model_of({std::make_shared<ov::op::v1::Add>(x, scaled()),
                                     std::make_shared<ov::op::v1::Multiply>(x, scaled())},
                                    {x});
  share_repeated(graph);
  EXPECT_EQ(test::count_of<ov::op::v1::Multiply>(*graph), 3U);
}

}  // namespace
}  // namespace ahead::model
