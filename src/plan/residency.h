// Which rungs' programs stay in memory: a pure function. May use: std.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ahead::plan {

/// Programs in memory and what they are for. A rung counts once, whatever programs it has.
struct Residency {
  std::vector<std::int64_t> resident;     ///< rungs that have programs
  std::vector<std::int64_t> in_use;       ///< by sequences of the request; at least one
  std::optional<std::int64_t> successor;  ///< the rung that comes next, if the request gets there
  std::size_t limit = 2;                  ///< rungs to keep; above 0, two is what a switch needs
  bool keep_ahead = false;  ///< everything above the lowest rung in use stays, whatever the limit
};

/// The rungs to let go, in increasing order. What is in use and its successor stay. Of the others
/// nothing stays up to a limit of two, and beyond that the lowest as far as the limit allows: a
/// next request begins there.
[[nodiscard]] std::vector<std::int64_t> rungs_to_drop(const Residency& residency);

}  // namespace ahead::plan
