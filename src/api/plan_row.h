// One forecast of a plan: from a design to the costs plan/ asks for, and back to what a caller
// reads. May use: plan, include/ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "ahead/planning.h"

namespace ahead::api {

/// A request with everything filled in.
struct PlanCase {
  std::vector<std::int64_t> ladder;
  std::vector<std::int64_t> chunks;
  std::int64_t prompt = 1;
  std::int64_t tokens = 1;
  Schedule schedule = Schedule::kOneAhead;
  /// What it begins with; with schedule planned those that step faster may follow.
  const PartitionProfile* partition = nullptr;
  bool may_change = false;
};

[[nodiscard]] PlanForecast forecast_row(const PlanRequest& request, const PlanCase& plan_case);

}  // namespace ahead::api
