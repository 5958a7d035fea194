// Which upgrade a request should compile next, if any. Pure; for the planner. May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/planner.h"

namespace ahead::plan {

/// The absent upgrade that saves most of those that pay for themselves and fit into memory.
struct BestUpgrade {
  std::optional<std::size_t> upgrade;  ///< in PlannerState::upgrades
  double gain_s = 0;
  std::string reason;
  std::string refusal;  ///< why the first one that was turned down was; empty: none was
};

/// `reserved` bytes are kept free for the successor.
[[nodiscard]] BestUpgrade best_upgrade(const PlannerState& state, std::int64_t reserved);

/// Whether a program that takes so much may be compiled before it is needed. One that takes nothing
/// always may.
[[nodiscard]] bool fits(std::int64_t bytes, const PlannerState& state);

}  // namespace ahead::plan
