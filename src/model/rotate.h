// The cheap form of rotary position embedding. May use: OpenVINO.
#pragma once

#include <cstdint>
#include <optional>

#include "openvino/core/node_output.hpp"

namespace ahead::model {

/// What heads [1, N, heads, D] are rotated by.
struct RotationTables {
  ov::Output<ov::Node> cos;          ///< [1, N, 1, D]
  ov::Output<ov::Node> signed_sin;   ///< [1, N, 1, D]
  ov::Output<ov::Node> permutation;  ///< [D] i32

  friend bool operator==(const RotationTables&, const RotationTables&) = default;
};

/// Heads and what rotates them.
struct RotatedHeads {
  ov::Output<ov::Node> x;  ///< [1, N, heads, D]
  RotationTables tables;
};

/// x * cos + Gather(x, permutation) * signed_sin, [1, N, heads, D].
[[nodiscard]] ov::Output<ov::Node> rotate(const RotatedHeads& heads);

/// The reverse: what `value` was made from by rotate(), if it was.
[[nodiscard]] std::optional<RotatedHeads> rotated_heads(const ov::Output<ov::Node>& value);

/// `value`, which has as many elements, as [1, N, heads, D].
[[nodiscard]] ov::Output<ov::Node> as_heads(const ov::Output<ov::Node>& value, std::int64_t heads,
                                            std::int64_t head_dim);

}  // namespace ahead::model
