// Along which axis a value's rows lie, and which operations leave rows to themselves.
// May use: base, model, OpenVINO.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "openvino/core/node.hpp"

namespace ahead::graph {

/// Axes of the values that carry rows; the others have none.
using RowAxes = std::map<ov::Output<ov::Node>, std::int64_t>;

/// The axis of the rows in `node`'s outputs, when each of them is made of the same row of those of
/// its inputs that have rows: then choosing rows before it or behind it is the same. Nothing when
/// that is not known.
[[nodiscard]] std::optional<std::int64_t> row_axis_behind(const ov::Node& node,
                                                          const RowAxes& axes);

/// Whether `node` gives its first input another shape and nothing else.
[[nodiscard]] bool only_reshapes(const ov::Node& node);

}  // namespace ahead::graph
