// The schedule that knows its deadlines: from where a request stands and what things will cost to
// one decision and its reason. Pure: no clock, no thread, no file. May use: base.
//
// A request works through a line of needs, as every schedule's does (schedule.h). Beside it stand
// upgrades: programs that do the work of one in use faster, so they have no deadline, only a gain
// over the tokens that are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/estimate.h"
#include "plan/schedule.h"

namespace ahead::plan {

/// A program, where it stands, and what it will cost.
struct Candidate {
  Need need;
  Status status = Status::kAbsent;
  Estimate compile;        ///< of what is missing of it
  double first_use_s = 0;  ///< from now, if nothing stalls; 0 where the next step needs it
  std::int64_t bytes = 0;  ///< of weights that it would hold in memory beyond what is there
};

/// A program that does the work of one in use in less time.
struct Upgrade {
  Candidate program;
  Estimate token;                ///< a token with it
  Estimate token_now;            ///< a token as it is
  std::int64_t tokens_left = 0;  ///< of that work, by the request's own limit and the rung
};

/// What the planner looks at.
struct PlannerState {
  /// In order of first use; those the request can reach before its own token limit, at least the
  /// `now` first, which the next step needs.
  std::vector<Candidate> line;
  std::size_t now = 1;
  std::vector<Upgrade> upgrades;
  /// The compile under way, if any: what is left of it. It may be of none of the above.
  std::optional<double> busy_s;
  bool other_compiling = false;  ///< it is of none of the above
  bool switching = false;        ///< as State::switching
  double token_s = 0;            ///< of the work in use, for "wait until token T"
  double step_s = 0;  ///< until the next decision, where that is more: a chunk of a prompt
  std::int64_t tokens_done = 0;            ///< rows the furthest sequence has
  std::optional<std::int64_t> bytes_free;  ///< what programs may still take; none: no limit
};

/// A decision of the planner, with what else it expects.
struct Plan {
  Decision decision;  ///< its need counts in `line`, or in `upgrades`
  /// The program meant where the action is kStart or kWait, in `line` or of an upgrade.
  Need need;
  bool is_upgrade = false;
  std::optional<std::int64_t> until_token;  ///< nothing to do before that many rows are live
  double expected_stall_s = 0;  ///< the request will stand still for the successor that long
};

/// The next thing to do, as decide().
[[nodiscard]] Plan plan(const PlannerState& state);

/// Whether to use a ready upgrade from the next token on.
struct Adoption {
  bool adopt = false;
  std::string reason;
};
[[nodiscard]] Adoption adopt(const Upgrade& upgrade);

}  // namespace ahead::plan
