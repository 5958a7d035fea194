// How long the rest of a campaign will take. Pure. May use: std.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "lab/run_plan.h"

namespace ahead::lab {

/// A run that was made, and the seconds it took.
using TimedRun = std::pair<RunKey, double>;

/// Seconds: a run is taken for as long as the median of its own arm in its own set; where there is
/// none, of its arm, then of its set, then of all. None before any run was made.
[[nodiscard]] std::optional<double> time_left(const std::vector<RunKey>& left,
                                              const std::vector<TimedRun>& made);

}  // namespace ahead::lab
