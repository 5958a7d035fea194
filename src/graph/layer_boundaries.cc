// Bottlenecks of the graph by the number of attentions in front. May use: base, model, OpenVINO.
#include "graph/layer_boundaries.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "graph/crossing.h"
#include "openvino/op/result.hpp"

namespace ahead::graph {
namespace {

using model::CachedAttention;
using Nodes = std::vector<const ov::Node*>;

class Finder {
 public:
  explicit Finder(const model::Decoder& decoder)
      : order_(decoder.graph->get_ordered_ops()), layers_(decoder.layers.size()) {
    for (const auto& node : order_) {
      std::size_t stage = 0;
      for (const auto& input : node->input_values()) {
        const ov::Node* source = input.get_node();
        stage = std::max(stage, stage_.at(source) + (ov::is_type<CachedAttention>(source) ? 1 : 0));
        ++uses_[source];
      }
      stage_[node.get()] = stage;
      place_.emplace(node.get(), std::ssize(place_));
    }
  }

  LayerBoundaries find(const ov::Node* tokens, const ov::Node* logit_rows) {
    LayerBoundaries found;
    found.first_begins = bottlenecks(tokens, 0);
    std::reverse(found.first_begins.begin(), found.first_begins.end());
    found.layers.push_back(found.first_begins.front());

    std::size_t likely = 0;
    for (const auto& node : order_) {
      if (!ov::is_type<CachedAttention>(node)) continue;
      const std::size_t stage = found.layers.size();
      const Nodes chain = bottlenecks(node.get(), stage);
      if (stage == layers_) {
        found.last_ends = ends(chain, likely, logit_rows);
        break;
      }
      likely = chain.size() - 1;
      found.layers.push_back(chain.back());
    }
    return found;
  }

 private:
  /// `from`, and the nodes with `stage` attentions in front through which every path from `from` to
  /// the logits goes, in order.
  Nodes bottlenecks(const ov::Node* from, std::size_t stage) {
    Nodes found = {from};
    std::unordered_set<const ov::Node*> behind;
    std::size_t open = 0;  // uses of what was passed that are still to come
    for (auto next = order_.begin() + place_.at(from); next != order_.end(); ++next) {
      const auto& node = *next;
      for (const auto& input : node->input_values()) {
        if (behind.count(input.get_node()) == 0) continue;
        behind.insert(node.get());
        --open;
      }
      if (node.get() == from) behind.insert(from);
      if (behind.count(node.get()) == 0) continue;
      if (open == 0 && stage_.at(node.get()) > stage) break;  // all that follows is behind it
      if (open == 0 && node.get() != from && stage_.at(node.get()) == stage &&
          node->get_output_size() == 1 && !ov::is_type<ov::op::v0::Result>(node) &&
          !ov::is_type<CachedAttention>(node) && can_cross(node->output(0))) {
        found.push_back(node.get());
      }
      open += uses_[node.get()];
    }
    return found;
  }

  /// `chain` with the place first that the layer before ended at, then from the last place on; but
  /// the rows whose logits are wanted are the head's to choose.
  Nodes ends(Nodes chain, std::size_t likely, const ov::Node* logit_rows) {
    std::unordered_set<const ov::Node*> behind = {logit_rows};
    for (const auto& node : order_) {
      for (const auto& input : node->input_values()) {
        if (behind.count(input.get_node()) > 0) behind.insert(node.get());
      }
    }
    const auto late = [&](const ov::Node* node) { return behind.count(node) > 0; };
    chain.erase(std::remove_if(chain.begin() + 1, chain.end(), late), chain.end());
    const ov::Node* first = likely < chain.size() ? chain[likely] : nullptr;
    std::reverse(chain.begin(), chain.end());
    std::stable_partition(chain.begin(), chain.end(),
                          [&](const ov::Node* node) { return node == first; });
    return chain;
  }

  const ov::NodeVector order_;
  const std::size_t layers_;
  std::unordered_map<const ov::Node*, std::size_t> stage_;
  std::unordered_map<const ov::Node*, std::size_t> uses_;
  std::unordered_map<const ov::Node*, std::ptrdiff_t> place_;  ///< in the order
};

}  // namespace

LayerBoundaries find_layer_boundaries(const model::Decoder& decoder) {
  const auto& inputs = decoder.graph->get_parameters();
  return Finder(decoder).find(inputs.at(0).get(), inputs.at(2).get());
}

}  // namespace ahead::graph
