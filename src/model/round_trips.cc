// Looks from the end of a chain for a value of the same type and shape. May use: OpenVINO.
#include "model/round_trips.h"

#include <algorithm>

#include "model/cached_attention.h"
#include "openvino/op/convert.hpp"
#include "openvino/op/reshape.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using Convert = ov::op::v0::Convert;
using Reshape = ov::op::v1::Reshape;

/// Whether reshaping one value into the other's shape changes nothing: at most one dimension is
/// open, and it is the same for both, because reshaping keeps the number of values.
bool same_shape(const NodeOutput& a, const NodeOutput& b) {
  const ov::PartialShape& shape = a.get_partial_shape();
  if (shape.rank().is_dynamic() || shape != b.get_partial_shape()) return false;
  return std::count_if(shape.begin(), shape.end(),
                       [](const ov::Dimension& dimension) { return dimension.is_dynamic(); }) <= 1;
}

/// The earliest value that `value` repeats, through reshapes and, if wanted, conversions.
NodeOutput origin(const NodeOutput& value, bool through_conversions) {
  NodeOutput found = value;
  NodeOutput at = value;
  while (ov::is_type<Reshape>(at.get_node()) ||
         (through_conversions && ov::is_type<Convert>(at.get_node()))) {
    at = at.get_node()->input_value(0);
    if (!at.get_element_type().is_real()) break;
    if (at.get_element_type() == value.get_element_type() && same_shape(at, value)) found = at;
  }
  return found;
}

}  // namespace

void drop_round_trips(const std::shared_ptr<ov::Model>& graph) {
  for (const auto& node : graph->get_ordered_ops()) {
    if (ov::is_type<Reshape>(node)) {
      const NodeOutput first = origin(node, false);
      if (first != node->output(0)) node->output(0).replace(first);
    } else if (ov::is_type<CachedAttention>(node)) {
      for (const std::size_t port : {1, 2}) {
        auto input = node->input(port);
        input.replace_source_output(origin(input.get_source_output(), true));
      }
    }
  }
}

}  // namespace ahead::model
