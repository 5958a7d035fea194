// What a reader's rotation of q or k does, learned by running it. May use: OpenVINO.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "openvino/core/node_output.hpp"

namespace ahead::model {

/// A piece of a graph between what is rotated and the rotated heads.
struct RopeRegion {
  ov::Output<ov::Node> x;             ///< [.., N, .., heads * D] in any shape, one dimension open
  ov::Output<ov::Node> cos;           ///< [.., N, .., W], the others 1
  ov::Output<ov::Node> sin;           ///< likewise
  ov::Output<ov::Node> y;             ///< [1, N, heads, D]
  std::vector<ov::Node*> operations;  ///< between them, in the order they are computed
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
};

/// y[d] = x[d] * cos[cos_index[d]] + x[permutation[d]] * sign[d] * sin[sin_index[d]], alike in all
/// heads and tokens.
struct Rotation {
  std::vector<std::int64_t> permutation;
  std::vector<std::int64_t> cos_index;
  std::vector<std::int64_t> sin_index;
  std::vector<float> sign;
};

/// The rotation that `region` is; nothing when it is none. `region` must be linear in x: the caller
/// has looked at its operations.
[[nodiscard]] std::optional<Rotation> probe_rotation(const RopeRegion& region);

/// The length of a table's last axis when `table` is [.., N, .., W] with all other dimensions 1.
[[nodiscard]] std::optional<std::int64_t> table_width(const ov::Output<ov::Node>& table);

}  // namespace ahead::model
