// Finds each rotation between an attention and what feeds it, and puts the cheap form there.
// May use: base, OpenVINO.
#include "model/rope.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cached_attention.h"
#include "model/decoder.h"
#include "model/rope_probe.h"
#include "model/rotate.h"
#include "openvino/op/add.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/negative.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/slice.hpp"
#include "openvino/op/split.hpp"
#include "openvino/op/squeeze.hpp"
#include "openvino/op/strided_slice.hpp"
#include "openvino/op/subtract.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/unsqueeze.hpp"
#include "openvino/op/variadic_split.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v0::Constant;
using ov::op::v1::Multiply;

/// What a value is computed from.
enum class Source { kConstants, kPositions, kTokens };

using Sources = std::unordered_map<const ov::Node*, Source>;

Sources sources_of(const ov::Model& graph) {
  Sources sources;
  for (const auto& node : graph.get_ordered_ops()) {
    Source source = Source::kConstants;
    for (const auto& input : node->input_values()) {
      source = std::max(source, sources.at(input.get_node()));
    }
    if (ov::is_type<ov::op::v0::Parameter>(node)) {
      source = node->get_friendly_name() == kPositions ? Source::kPositions : Source::kTokens;
    }
    sources[node.get()] = source;
  }
  return sources;
}

bool is_sign(const NodeOutput& value) {
  const auto* constant = ov::as_type<const Constant>(value.get_node());
  if (constant == nullptr || ov::shape_size(constant->get_shape()) != 1) return false;
  const float number = constant->cast_vector<float>().at(0);
  return number == 1 || number == -1;
}

/// Walks back from rotated heads to the one value they were rotated from.
class RegionFinder {
 public:
  explicit RegionFinder(const Sources& sources) : sources_(sources) {}

  std::optional<RopeRegion> find(const NodeOutput& y, std::int64_t heads, std::int64_t head_dim) {
    visit(y);
    if (!single_ || !x_.get_node() || tables_.size() != 2) return std::nullopt;
    return RopeRegion{.x = x_,
                      .cos = tables_[0],
                      .sin = tables_[1],
                      .y = y,
                      .operations = operations_,
                      .heads = heads,
                      .head_dim = head_dim};
  }

 private:
  [[nodiscard]] Source source(const NodeOutput& value) const {
    return sources_.at(value.get_node());
  }

  /// Whether the operation only moves values about, changes their sign, multiplies them by a table
  /// or adds them to one another.
  [[nodiscard]] bool belongs(const ov::Node& node) const {
    namespace op = ov::op;
    const auto inputs = node.input_values();
    if (ov::is_type<op::v1::Add>(&node) || ov::is_type<op::v1::Subtract>(&node) ||
        ov::is_type<op::v0::Concat>(&node)) {
      return std::all_of(inputs.begin(), inputs.end(),
                         [&](const NodeOutput& input) { return source(input) == Source::kTokens; });
    }
    if (ov::is_type<Multiply>(&node)) {
      const bool first = source(inputs[0]) == Source::kTokens;
      const NodeOutput& factor = inputs[first ? 1 : 0];
      return source(factor) == Source::kPositions || is_sign(factor);
    }
    const bool moves =
        ov::is_type_any_of<op::v1::Reshape, op::v1::Transpose, op::v1::Split, op::v1::VariadicSplit,
                           op::v8::Slice, op::v1::StridedSlice, op::v0::Squeeze, op::v15::Squeeze,
                           op::v0::Unsqueeze, op::v0::Negative>(&node);
    return moves && std::all_of(inputs.begin() + 1, inputs.end(), [&](const NodeOutput& input) {
             return source(input) == Source::kConstants;
           });
  }

  void visit(const NodeOutput& value) {
    ov::Node* node = value.get_node();
    if (source(value) == Source::kConstants) return;
    if (source(value) == Source::kPositions) {
      if (std::ranges::find(tables_, value) == tables_.end()) tables_.push_back(value);
      return;
    }
    if (!belongs(*node)) {
      single_ = single_ && (!x_.get_node() || x_ == value);
      x_ = value;
      return;
    }
    if (std::ranges::find(operations_, node) != operations_.end()) return;
    for (const NodeOutput& input : node->input_values()) visit(input);
    operations_.push_back(node);
  }

  const Sources& sources_;
  NodeOutput x_;
  bool single_ = true;
  std::vector<NodeOutput> tables_;
  std::vector<ov::Node*> operations_;
};

/// Tables [1, N, 1, D] and permutations, each made once.
class Tables {
 public:
  NodeOutput cos(const RopeRegion& region, const Rotation& rotation) {
    return table(region.cos, rotation.cos_index,
                 std::vector<float>(rotation.cos_index.size(), 1.0F));
  }
  NodeOutput signed_sin(const RopeRegion& region, const Rotation& rotation) {
    return table(region.sin, rotation.sin_index, rotation.sign);
  }
  NodeOutput permutation(const std::vector<std::int64_t>& indices) {
    auto& made = permutations_[indices];
    if (!made.get_node()) made = numbers(indices);
    return made;
  }

 private:
  static NodeOutput numbers(const std::vector<std::int64_t>& values) {
    return Constant::create(ov::element::i32, {values.size()}, values);
  }

  NodeOutput table(const NodeOutput& source, const std::vector<std::int64_t>& indices,
                   const std::vector<float>& signs) {
    auto& made = tables_[{source, indices, signs}];
    if (made.get_node()) return made;
    const std::int64_t width = *table_width(source);
    NodeOutput value = as_heads(source, 1, width);
    std::vector<std::int64_t> same(static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<std::int64_t>(i);
    if (indices != same) {
      value = std::make_shared<ov::op::v8::Gather>(value, numbers(indices),
                                                   Constant::create(ov::element::i32, {}, {-1}));
    }
    if (std::ranges::find(signs, -1.0F) != signs.end()) {
      value = std::make_shared<Multiply>(
          value, Constant::create(ov::element::f32, {1, 1, 1, signs.size()}, signs));
    }
    return made = value;
  }

  std::map<std::tuple<NodeOutput, std::vector<std::int64_t>, std::vector<float>>, NodeOutput>
      tables_;
  std::map<std::vector<std::int64_t>, NodeOutput> permutations_;
};

/// Either table may be the cosine.
std::optional<Rotation> rotation_of(RopeRegion& region) {
  if (auto rotation = probe_rotation(region)) return rotation;
  std::swap(region.cos, region.sin);
  return probe_rotation(region);
}

/// The same angles, of pairs that lie half a head apart instead of side by side.
Rotation as_halves(const Rotation& neighbours) {
  const std::size_t half = neighbours.permutation.size() / 2;
  Rotation made = neighbours;
  for (std::size_t d = 0; d < 2 * half; ++d) {
    const std::size_t pair = 2 * (d % half);
    if (neighbours.permutation[pair] != static_cast<std::int64_t>(pair) + 1) {
      throw std::invalid_argument("its rotation is not one of neighbours");
    }
    made.permutation[d] = static_cast<std::int64_t>((d + half) % (2 * half));
    made.cos_index[d] = neighbours.cos_index[pair];
    made.sin_index[d] = neighbours.sin_index[pair];
    made.sign[d] = neighbours.sign[pair + (d < half ? 0 : 1)];
  }
  return made;
}

void take_out(ov::Input<ov::Node> heads_of, std::int64_t heads, std::int64_t head_dim,
              const Sources& sources) {
  auto region = RegionFinder(sources).find(heads_of.get_source_output(), heads, head_dim);
  if (!region || !rotation_of(*region)) {
    throw std::invalid_argument("a layer that is not to be rotated has a rotation of its own kind");
  }
  heads_of.replace_source_output(as_heads(region->x, heads, head_dim));
}

void rewrite(ov::Input<ov::Node> heads_of, std::int64_t heads, std::int64_t head_dim, bool halves,
             const Sources& sources, Tables& tables) {
  auto region = RegionFinder(sources).find(heads_of.get_source_output(), heads, head_dim);
  auto rotation = region && region->y.get_element_type() == ov::element::f32 ? rotation_of(*region)
                                                                             : std::nullopt;
  if (halves) {
    if (!rotation) throw std::invalid_argument("its rotation is none of whole heads");
    rotation = as_halves(*rotation);
  }
  if (!rotation) return;
  const NodeOutput rotated =
      rotate({.x = as_heads(region->x, heads, head_dim),
              .tables = {.cos = tables.cos(*region, *rotation),
                         .signed_sin = tables.signed_sin(*region, *rotation),
                         .permutation = tables.permutation(rotation->permutation)}});
  rotated.get_node()->set_friendly_name(region->y.get_node()->get_friendly_name());
  heads_of.replace_source_output(rotated);
}

}  // namespace

void rewrite_rope(const std::shared_ptr<ov::Model>& graph, const RopeMends& mends) {
  const Sources sources = sources_of(*graph);
  Tables tables;
  for (const auto& node : graph->get_ordered_ops()) {
    const auto attention = ov::as_type_ptr<CachedAttention>(node);
    if (!attention) continue;
    const auto& [layer, shape, scale] = attention->attributes();
    if (mends.unrotated_every > 0 && (layer + 1) % mends.unrotated_every == 0) {
      take_out(attention->input(0), shape.q_heads, shape.head_dim, sources);
      take_out(attention->input(1), shape.kv_heads, shape.head_dim, sources);
      continue;
    }
    rewrite(attention->input(0), shape.q_heads, shape.head_dim, mends.halves, sources, tables);
    rewrite(attention->input(1), shape.kv_heads, shape.head_dim, mends.halves, sources, tables);
  }
}

}  // namespace ahead::model
