// Rotations as the readers spell them become the cheap form with the same numbers; what is none
// stays.
#include "model/rope.h"

#include <gtest/gtest.h>

#include <functional>

#include "model/decoder.h"
#include "model/share.h"
#include "model/test_graphs.h"
#include "openvino/op/add.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/cos.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/sin.hpp"
#include "openvino/op/slice.hpp"
#include "openvino/op/split.hpp"
#include "openvino/op/subtract.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Concat;
using ov::op::v1::Add;
using ov::op::v1::Multiply;
using ov::op::v1::Reshape;
using ov::op::v1::Split;
using ov::op::v1::Transpose;
using test::NodeOutput;

constexpr std::int64_t kDim = 8;
constexpr std::int64_t kQueryHeads = 4;
constexpr std::int64_t kKvHeads = 2;

NodeOutput reshaped(const NodeOutput& value, const std::vector<std::int64_t>& shape) {
  return std::make_shared<Reshape>(value, test::ints(shape), false);
}

NodeOutput swapped(const NodeOutput& value) {
  return std::make_shared<Transpose>(value, test::ints({0, 2, 1, 3}));
}

NodeOutput times(const NodeOutput& a, const NodeOutput& b) {
  return std::make_shared<Multiply>(a, b);
}

/// What a spelling gets.
struct Rotated {
  NodeOutput x;  ///< [1, N, heads * 8]
  NodeOutput cos;
  NodeOutput sin;  ///< [1, N, 1, W]
  std::int64_t heads = 0;
};

struct Spelling {
  std::int64_t table_width = 0;
  std::function<NodeOutput(const Rotated&)> rotate;  ///< to [1, N, heads, 8]
};

/// Neighbours turn into one another: (a, b) -> (-b, a).
Spelling neighbours() {
  return {kDim, [](const Rotated& of) {
            const NodeOutput heads = reshaped(of.x, {1, -1, of.heads, kDim});
            const auto pairs = std::make_shared<Split>(
                reshaped(heads, {1, -1, of.heads, kDim / 2, 2}), test::integer(-1), 2);
            const NodeOutput turned = std::make_shared<Concat>(
                ov::OutputVector{times(pairs->output(1), test::number(-1)), pairs->output(0)}, -1);
            return std::make_shared<Add>(times(heads, of.cos),
                                         times(reshaped(turned, {1, -1, of.heads, kDim}), of.sin));
          }};
}

/// Halves turn into one another, heads first.
Spelling sliced_halves(std::int64_t begin = kDim / 2) {
  return {kDim, [begin](const Rotated& of) {
            const NodeOutput heads = swapped(reshaped(of.x, {1, -1, of.heads, kDim}));
            const auto slice = [&](std::int64_t from, std::int64_t to) {
              return std::make_shared<ov::op::v8::Slice>(
                  heads, test::ints({from}), test::ints({to}), test::ints({1}), test::ints({3}));
            };
            const NodeOutput turned = std::make_shared<Concat>(
                ov::OutputVector{times(slice(begin, kDim), test::number(-1)), slice(0, begin)}, -1);
            const NodeOutput cos = swapped(of.cos);
            const NodeOutput sin = swapped(of.sin);
            return swapped(std::make_shared<Add>(times(heads, cos), times(turned, sin)));
          }};
}

/// Halves computed apart, tables of half a head.
Spelling separate_halves() {
  return {kDim / 2, [](const Rotated& of) {
            const auto halves = std::make_shared<ov::op::v1::VariadicSplit>(
                reshaped(of.x, {1, -1, of.heads, kDim}), test::integer(-1),
                test::ints({kDim / 2, kDim / 2}));
            const NodeOutput a = halves->output(0);
            const NodeOutput b = halves->output(1);
            return std::make_shared<Concat>(
                ov::OutputVector{
                    std::make_shared<ov::op::v1::Subtract>(times(a, of.cos), times(b, of.sin)),
                    std::make_shared<Add>(times(b, of.cos), times(a, of.sin))},
                -1);
          }};
}

/// Only the first half of a head is rotated.
Spelling partial() {
  return {kDim / 4, [](const Rotated& of) {
            const auto parts = std::make_shared<ov::op::v1::VariadicSplit>(
                reshaped(of.x, {1, -1, of.heads, kDim}), test::integer(-1),
                test::ints({kDim / 4, kDim / 4, kDim / 2}));
            const NodeOutput a = parts->output(0);
            const NodeOutput b = parts->output(1);
            return std::make_shared<Concat>(
                ov::OutputVector{
                    std::make_shared<ov::op::v1::Subtract>(times(a, of.cos), times(b, of.sin)),
                    std::make_shared<Add>(times(b, of.cos), times(a, of.sin)), parts->output(2)},
                -1);
          }};
}

/// A rotation whose result is scaled too.
Spelling scaled() {
  Spelling spelling = neighbours();
  spelling.rotate = [rotate = spelling.rotate](const Rotated& of) {
    return times(rotate(of), of.cos);
  };
  return spelling;
}

/// Two layers over one pair of tables.
std::shared_ptr<ov::Model> decoder(const Spelling& spelling) {
  const auto tokens = test::input("x", {1, -1, kQueryHeads * kDim});
  const auto positions = test::input(kPositions, {1, -1, 1, spelling.table_width});
  const NodeOutput cos = std::make_shared<ov::op::v0::Cos>(positions);
  const NodeOutput sin = std::make_shared<ov::op::v0::Sin>(positions);
  NodeOutput x = tokens;
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const auto k = std::make_shared<ov::op::v8::Slice>(
        x, test::ints({0}), test::ints({kKvHeads * kDim}), test::ints({1}), test::ints({2}));
    const NodeOutput k_rows = std::make_shared<Add>(k, test::number(1));
    const NodeOutput q_rows = std::make_shared<Add>(x, test::number(2));
    const auto attention = std::make_shared<CachedAttention>(
        spelling.rotate({q_rows, cos, sin, kQueryHeads}),
        spelling.rotate({k_rows, cos, sin, kKvHeads}), reshaped(k, {1, -1, kKvHeads, kDim}),
        CachedAttention::Attributes{layer, {kQueryHeads, kKvHeads, kDim}, 1.0F});
    x = reshaped(attention, {1, -1, kQueryHeads * kDim});
  }
  return test::model_of({x}, {tokens, positions});
}

void expect_near(const std::vector<std::vector<float>>& ours,
                 const std::vector<std::vector<float>>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].size(), theirs[i].size());
    for (std::size_t j = 0; j < ours[i].size(); ++j) {
      EXPECT_NEAR(ours[i][j], theirs[i][j], 1e-6) << "input " << i << " at " << j;
    }
  }
}

void expect_rewritten(const Spelling& spelling) {
  const auto graph = decoder(spelling);
  const auto before = test::run_into_attention(*graph);
  share_repeated(graph);  // a table is known by the node that makes it
  rewrite_rope(graph);
  graph->validate_nodes_and_infer_types();
  EXPECT_EQ(test::count_of<Concat>(*graph), 0U);
  // One for each of q and k of both layers, and for tables that had to be brought to a head's size.
  EXPECT_EQ(test::count_of<ov::op::v8::Gather>(*graph),
            4U + (spelling.table_width == kDim ? 0U : 2U));
  // Two for each, and the sign of the sines once.
  EXPECT_EQ(test::count_of<Multiply>(*graph), 9U);
  expect_near(test::run_into_attention(*graph), before);
}

void expect_left(const Spelling& spelling) {
  const auto graph = decoder(spelling);
  const auto before = test::run_into_attention(*graph);
  rewrite_rope(graph);
  EXPECT_EQ(test::count_of<ov::op::v8::Gather>(*graph), 0U);
  expect_near(test::run_into_attention(*graph), before);
}

TEST(Rope, NeighboursThatTurnAreRewritten) { expect_rewritten(neighbours()); }

TEST(Rope, SlicedHalvesAreRewritten) { expect_rewritten(sliced_halves()); }

TEST(Rope, HalvesComputedApartAreRewritten) { expect_rewritten(separate_halves()); }

TEST(Rope, APartialRotationIsLeft) { expect_left(partial()); }

TEST(Rope, ARotationThatIsScaledByATableIsLeft) { expect_left(scaled()); }

}  // namespace
}  // namespace ahead::model
