// Finds where layers begin, numbers the pieces, and lets like groups share one.
// May use: base, model, OpenVINO.
#include "graph/cut_blocks.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "graph/late_rows.h"
#include "graph/layer_boundaries.h"
#include "graph/piece_builder.h"
#include "model/cached_attention.h"
#include "openvino/op/parameter.hpp"

namespace ahead::graph {
namespace {

using model::CachedAttention;
using ov::op::v0::Parameter;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Where groups of layers begin and end; piece 0 is the embedding, the last one the head.
struct Plan {
  std::vector<const ov::Node*> boundaries;  ///< in front of every group, and of the head
  std::int64_t layers = 1;                  ///< a group

  [[nodiscard]] std::int64_t head() const { return std::ssize(boundaries); }
  [[nodiscard]] std::int64_t first_layer(std::int64_t piece) const { return (piece - 1) * layers; }
};

class Blocks {
 public:
  explicit Blocks(const model::Decoder& decoder)
      : decoder_(decoder), order_(decoder.graph->get_ordered_ops()) {
    const auto& inputs = decoder.graph->get_parameters();
    inputs_ = {{inputs.at(0).get(), Role::kTokens},
               {inputs.at(1).get(), Role::kPositions},
               {inputs.at(2).get(), Role::kLogitRows}};
  }

  Cut cut(std::int64_t block_layers) {
    const std::vector<const ov::Node*> all = boundaries();
    Plan plan{.layers = block_layers};
    for (std::size_t layer = 0; layer + 1 < all.size(); layer += at(block_layers)) {
      plan.boundaries.push_back(all[layer]);
    }
    plan.boundaries.push_back(all.back());
    return assemble(build(plan), plan);
  }

 private:
  /// In front of every layer and of the head. Where the first layer begins and the last one ends is
  /// chosen so that they are like another layer, if that can be.
  std::vector<const ov::Node*> boundaries() {
    LayerBoundaries found = find_layer_boundaries(decoder_);
    Plan plan{.boundaries = std::move(found.layers)};
    plan.boundaries.push_back(found.last_ends.front());
    choose(plan, 0, found.first_begins, 0);
    choose(plan, plan.boundaries.size() - 1, found.last_ends, plan.boundaries.size() - 2);
    return plan.boundaries;
  }

  /// Takes the first choice with which `layer` is like another one; otherwise the first.
  void choose(Plan& plan, std::size_t boundary, const std::vector<const ov::Node*>& choices,
              std::size_t layer) {
    if (plan.boundaries.size() == 2) return;
    for (const ov::Node* choice : choices) {
      plan.boundaries[boundary] = choice;
      const std::vector<BuiltPiece> pieces = build(plan);
      const auto like = [&](const BuiltPiece& piece) {
        return &piece != &pieces[layer + 1] && piece.key == pieces[layer + 1].key;
      };
      if (std::any_of(pieces.begin(), pieces.end(), like)) return;
    }
    plan.boundaries[boundary] = choices.front();
  }

  /// The pieces, in order. From the last to the first, because a piece makes what later ones want.
  std::vector<BuiltPiece> build(const Plan& plan) {
    const PieceNumbers numbers = number(plan);
    using Place = std::pair<std::int64_t, std::size_t>;
    std::vector<std::map<Place, PieceBuilder::Wanted>> wanted(at(plan.head()) + 1);
    std::vector<BuiltPiece> pieces(wanted.size());
    const auto result = decoder_.graph->get_results().at(0);
    wanted.back()[{}] = {{Role::kLogits}, result->input_value(0)};
    for (std::int64_t piece = plan.head(); piece >= 0; --piece) {
      const bool is_group = piece > 0 && piece < plan.head();
      PieceBuilder builder(numbers, inputs_, crossings_,
                           {.number = piece,
                            .first_layer = is_group ? plan.first_layer(piece) : 0,
                            .is_group = is_group});
      std::vector<PieceBuilder::Wanted> outputs;
      for (const auto& [place, output] : wanted[at(piece)]) outputs.push_back(output);
      pieces[at(piece)] = builder.build(name(piece, plan), outputs);
      for (const PieceBuilder::Wanted& value : builder.taken()) {
        const ov::Node* maker = value.value.get_node();
        wanted[at(numbers.at(maker))][{place_.at(maker), value.value.get_index()}] = value;
      }
    }
    return pieces;
  }

  /// A node belongs to the piece of the last boundary in front of it.
  PieceNumbers number(const Plan& plan) {
    std::unordered_map<const ov::Node*, std::int64_t> begins;
    for (std::int64_t piece = 1; piece <= plan.head(); ++piece) {
      std::int64_t& begun = begins[plan.boundaries[at(piece - 1)]];
      begun = std::max(begun, piece);
    }
    PieceNumbers numbers;
    for (const auto& node : order_) {
      place_.emplace(node.get(), std::ssize(place_));
      std::int64_t piece = inputs_.count(node.get()) > 0 ? 0 : kConstant;
      for (const auto& input : node->input_values()) {
        const auto source = numbers.find(input.get_node());
        if (source == numbers.end()) continue;
        const auto begun = begins.find(input.get_node());
        piece = std::max({piece, source->second, begun == begins.end() ? 0 : begun->second});
        // Behind the rows whose logits are wanted there are fewer rows, which only the head counts.
        const auto role = inputs_.find(input.get_node());
        if (role != inputs_.end() && role->second == Role::kLogitRows) piece = plan.head();
      }
      if (const auto attention = ov::as_type_ptr<CachedAttention>(node)) {
        const std::int64_t own = attention->attributes().layer / plan.layers + 1;
        if (piece > own) refuse(attention->attributes().layer);
        piece = own;
      }
      if (piece != kConstant) numbers[node.get()] = piece;
    }
    sink(numbers);
    return numbers;
  }

  /// Moves what one group derives from the positions for itself into that group.
  void sink(PieceNumbers& numbers) const {
    const std::unordered_map<const ov::Node*, bool> only_positions = derived_from_positions();
    std::unordered_map<const ov::Node*, std::pair<std::int64_t, std::int64_t>> uses;
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      const auto number = numbers.find(node->get());
      if (number == numbers.end()) continue;
      const auto use = uses.find(node->get());
      if (use != uses.end() && use->second.first == use->second.second &&
          only_positions.at(node->get())) {
        number->second = std::max(number->second, use->second.first);
      }
      for (const auto& input : (*node)->input_values()) {
        const std::pair piece(number->second, number->second);
        auto& [first, last] = uses.emplace(input.get_node(), piece).first->second;
        first = std::min(first, number->second);
        last = std::max(last, number->second);
      }
    }
  }

  [[nodiscard]] std::unordered_map<const ov::Node*, bool> derived_from_positions() const {
    std::unordered_map<const ov::Node*, bool> derived;
    for (const auto& node : order_) {
      bool only = !ov::is_type<CachedAttention>(node) && !ov::is_type<Parameter>(node);
      for (const auto& input : node->input_values()) {
        const auto external = inputs_.find(input.get_node());
        only = only && (external == inputs_.end() ? derived.at(input.get_node())
                                                  : external->second == Role::kPositions);
      }
      derived[node.get()] = only;
    }
    return derived;
  }

  [[noreturn]] void refuse(std::int64_t layer) const {
    throw Error(ErrorKind::kUnsupportedModel,
                "architecture '" + decoder_.architecture +
                    "' cannot be cut in blocks: the attention of layer " + std::to_string(layer) +
                    " depends on a later one; use --partition whole");
  }

  static std::string name(std::int64_t piece, const Plan& plan) {
    if (piece == 0) return "embedding";
    if (piece == plan.head()) return "head";
    return "block." + std::to_string(plan.first_layer(piece));
  }

  static Cut assemble(std::vector<BuiltPiece> built, const Plan& plan) {
    Cut cut;
    std::map<std::string, std::size_t> by_key;
    for (std::int64_t number = 0; number <= plan.head(); ++number) {
      BuiltPiece& from = built[at(number)];
      if (from.piece.outputs.empty()) continue;  // the first layer takes the tokens themselves
      const bool is_group = number > 0 && number < plan.head();
      Call call{
          .piece = cut.pieces.size(), .inputs = from.piece.inputs, .outputs = from.piece.outputs};
      if (is_group) {
        call.piece = by_key.emplace(std::move(from.key), call.piece).first->second;
        const std::int64_t first = from.piece.layers.front();
        if (call.piece == cut.pieces.size()) cut.pieces.push_back(std::move(from.piece));
        Piece& piece = cut.pieces[call.piece];
        call.layer = first - piece.layers.front();
        call.weights = piece.weight_sets.size();
        piece.weight_sets.push_back(std::move(from.weights));
      } else {
        cut.pieces.push_back(std::move(from.piece));
      }
      cut.calls.push_back(std::move(call));
    }
    return cut;
  }

  static constexpr std::int64_t kConstant = -1;

  const model::Decoder& decoder_;
  const ov::NodeVector order_;
  std::unordered_map<const ov::Node*, Role> inputs_;
  std::unordered_map<const ov::Node*, std::int64_t> place_;  ///< in the order
  Crossings crossings_{decoder_.architecture};
};

}  // namespace

Cut cut_in_blocks(const model::Decoder& decoder, std::int64_t block_layers) {
  AHEAD_CHECK(block_layers > 0, "a block has layers");
  model::Decoder alike = decoder;
  alike.graph = with_late_rows(decoder);
  return Blocks(alike).cut(block_layers);
}

}  // namespace ahead::graph
