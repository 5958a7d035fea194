// What a cache write left is taken out; what changes a value or a shape stays.
#include "model/round_trips.h"

#include <gtest/gtest.h>

#include "model/test_graphs.h"
#include "openvino/op/convert.hpp"
#include "openvino/op/reshape.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Convert;
using ov::op::v1::Reshape;
using test::NodeOutput;

NodeOutput reshaped(const NodeOutput& value, const std::vector<std::int64_t>& shape) {
  return std::make_shared<Reshape>(value, test::ints(shape), false);
}

/// Rows [1, N, 2, 4] as a cache write of f16 leaves them.
NodeOutput as_written(const NodeOutput& rows) {
  const auto rounded = std::make_shared<Convert>(rows, ov::element::f16);
  return std::make_shared<Convert>(reshaped(reshaped(rounded, {1, 1, -1, 4}), {1, -1, 2, 4}),
                                   ov::element::f32);
}

TEST(RoundTrips, NewRowsReachTheAttentionAsTheyWereMade) {
  const auto x = test::input("x", {1, -1, 2, 4});
  const auto attention = std::make_shared<CachedAttention>(
      x, as_written(x), as_written(x), CachedAttention::Attributes{0, {2, 2, 4}, 1.0F});
  const auto graph = test::model_of({attention}, {x});
  drop_round_trips(graph);
  EXPECT_EQ(test::count_of<Convert>(*graph), 0U);
  EXPECT_EQ(test::count_of<Reshape>(*graph), 0U);
  EXPECT_EQ(attention->input_value(1), x->output(0));
  EXPECT_EQ(attention->input_value(2), x->output(0));
}

TEST(RoundTrips, RoundingElsewhereIsTheModelsOwn) {
  const auto x = test::input("x", {1, -1, 2, 4});
  const auto attention = std::make_shared<CachedAttention>(
      as_written(x), x, x, CachedAttention::Attributes{0, {2, 2, 4}, 1.0F});
  const auto graph = test::model_of({attention, as_written(x)}, {x});
  drop_round_trips(graph);
  EXPECT_EQ(test::count_of<Convert>(*graph), 4U);
  EXPECT_NE(attention->input_value(0), x->output(0));
}

TEST(RoundTrips, AReshapeBackToTheFirstShapeGoes) {
  const auto x = test::input("x", {1, -1, 8});
  const auto graph = test::model_of({reshaped(reshaped(x, {1, -1, 2, 4}), {1, -1, 8})}, {x});
  const auto before = test::run(*graph);
  drop_round_trips(graph);
  EXPECT_EQ(test::count_of<Reshape>(*graph), 0U);
  EXPECT_EQ(test::run(*graph), before);
}

TEST(RoundTrips, AReshapeToAShapeWithTwoOpenDimensionsStays) {
  const auto x = test::input("x", {-1, -1});
  const auto shape = test::input("shape", {2}, ov::element::i64);
  const auto graph =
      test::model_of({std::make_shared<Reshape>(reshaped(x, {-1}), shape, false)}, {x, shape});
  drop_round_trips(graph);
  EXPECT_EQ(test::count_of<Reshape>(*graph), 2U);
}

}  // namespace
}  // namespace ahead::model
