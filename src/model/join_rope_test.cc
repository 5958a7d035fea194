// q and k rotate as one where they lie beside one another, and only there.
#include "model/join_rope.h"

#include <gtest/gtest.h>

#include "model/rotate.h"
#include "model/test_graphs.h"
#include "openvino/op/add.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::model {
namespace {

using ov::op::v1::VariadicSplit;
using test::NodeOutput;

constexpr std::int64_t kDim = 4;
constexpr std::int64_t kQueryHeads = 4;
constexpr std::int64_t kKvHeads = 2;

struct Layer {
  bool k_before_v = true;
  bool same_tables = true;
  bool k_is_used = false;  ///< by something besides its rotation
};

std::shared_ptr<ov::Model> decoder(const Layer& layer) {
  const std::int64_t q_width = kQueryHeads * kDim;
  const std::int64_t kv_width = kKvHeads * kDim;
  const auto product = test::input("product", {1, 1, -1, q_width + 2 * kv_width});
  const auto cos = test::input("cos", {1, -1, 1, kDim});
  const auto sin = test::input("sin", {1, -1, 1, kDim});
  const auto other_sin = test::input("other_sin", {1, -1, 1, kDim});
  const auto split = std::make_shared<VariadicSplit>(product, test::integer(-1),
                                                     test::ints({q_width, kv_width, kv_width}));
  const auto turn = ov::op::v0::Constant::create(ov::element::i32, {kDim}, {1, 0, 3, 2});
  const NodeOutput k = split->output(layer.k_before_v ? 1 : 2);
  const NodeOutput v = split->output(layer.k_before_v ? 2 : 1);
  const auto attention = std::make_shared<CachedAttention>(
      rotate({as_heads(split->output(0), kQueryHeads, kDim), {cos, sin, turn}}),
      rotate({as_heads(k, kKvHeads, kDim), {cos, layer.same_tables ? sin : other_sin, turn}}),
      as_heads(v, kKvHeads, kDim),
      CachedAttention::Attributes{0, {kQueryHeads, kKvHeads, kDim}, 1.0F});
  ov::OutputVector outputs{attention};
  if (layer.k_is_used) outputs.push_back(std::make_shared<ov::op::v1::Add>(k, test::number(1)));
  return test::model_of(outputs, {product, cos, sin, other_sin});
}

void expect_rotations(const Layer& layer, std::size_t rotations) {
  const auto graph = decoder(layer);
  const auto before = test::run_into_attention(*graph);
  join_rope(graph);
  graph->validate_nodes_and_infer_types();
  EXPECT_EQ(test::count_of<ov::op::v8::Gather>(*graph), rotations);
  EXPECT_EQ(test::run_into_attention(*graph), before);
}

TEST(JoinRope, NeighboursRotateTogether) { expect_rotations({}, 1); }

TEST(JoinRope, SlicesApartRotateApart) { expect_rotations({.k_before_v = false}, 2); }

TEST(JoinRope, OtherTablesRotateApart) { expect_rotations({.same_tables = false}, 2); }

TEST(JoinRope, ASliceThatSomethingElseReadsStays) { expect_rotations({.k_is_used = true}, 2); }

}  // namespace
}  // namespace ahead::model
