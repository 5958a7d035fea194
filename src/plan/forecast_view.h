// What the planner looks at, out of a forecast's state. Pure; for forecast.cc. May use: base.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/choices.h"
#include "plan/forecast.h"
#include "plan/forecast_programs.h"
#include "plan/planner.h"
#include "plan/schedule.h"

namespace ahead::plan {

/// Where the request stands.
struct Place {
  bool reading = true;  ///< the prompt; otherwise decoding
  std::int64_t live = 0;
  std::int64_t most = 0;  ///< rows it can come to have
  std::int64_t rung = 0;  ///< of its cache; 0 before there is one
  std::int64_t chunk = 1;
  std::int64_t prompt_left = 0;
  std::int64_t tier = 0;  ///< of the decode program in use
};

[[nodiscard]] std::vector<StartCost> starts_of(const ForecastInput& input,
                                               const ForecastPrograms& programs);

/// Gives the decode programs that the planner looks at a tier: on the rung in use that of `place`;
/// elsewhere the highest that is there, or under way, or will be in time, or else the one that is
/// soonest.
void choose_tiers(const ForecastInput& input, const ForecastPrograms& programs, const Place& place,
                  Needs& needs);

/// Programs that do the work of `now` faster.
[[nodiscard]] std::vector<Upgrade> upgrades_of(const ForecastInput& input,
                                               const ForecastPrograms& programs, const Place& place,
                                               const Need& now);

[[nodiscard]] PlannerState state_of(const ForecastInput& input, const ForecastPrograms& programs,
                                    const Place& place, const Needs& needs, bool switching);

}  // namespace ahead::plan
