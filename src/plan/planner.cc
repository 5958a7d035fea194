// The rules of the planned schedule. May use: base.
#include "plan/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "plan/phrases.h"
#include "plan/upgrade.h"

namespace ahead::plan {
namespace {

// A successor starts when what is left until its use comes down to this.
constexpr double kMarginLate = 2;  // times its late estimate
constexpr double kMarginS = 0.25;

constexpr double kNever = std::numeric_limits<double>::infinity();

Plan proceed(std::string reason) { return {.decision = {Action::kProceed, 0, std::move(reason)}}; }

Plan act(Action action, const PlannerState& state, std::size_t need, std::string reason) {
  return {.decision = {action, need, std::move(reason)}, .need = state.line[need].need};
}

Plan act_upgrade(Action action, const PlannerState& state, std::size_t upgrade,
                 std::string reason) {
  return {.decision = {action, upgrade, std::move(reason)},
          .need = state.upgrades[upgrade].program.need,
          .is_upgrade = true};
}

/// The compile under way: which one, if it is one of ours.
struct Running {
  std::optional<std::size_t> line;
  std::optional<std::size_t> upgrade;
  double left_s = 0;
};

std::optional<Running> running_in(const PlannerState& state) {
  Running running{.left_s = state.busy_s.value_or(0)};
  for (std::size_t i = 0; i < state.line.size() && !running.line; ++i) {
    if (state.line[i].status == Status::kCompiling) running.line = i;
  }
  for (std::size_t i = 0; i < state.upgrades.size() && !running.upgrade; ++i) {
    if (state.upgrades[i].program.status == Status::kCompiling) running.upgrade = i;
  }
  if (!state.busy_s && !state.other_compiling && !running.line && !running.upgrade) {
    return std::nullopt;
  }
  return running;
}

/// What to do before the next step, as long as something it needs is missing.
std::optional<Plan> for_next_step(const PlannerState& state,
                                  const std::optional<Running>& running) {
  std::optional<std::size_t> absent;
  double absent_s = 0;
  bool all_ready = true;
  for (std::size_t need = 0; need < state.now; ++need) {
    const Candidate& candidate = state.line[need];
    if (candidate.status == Status::kFailed) {
      return act(Action::kProceed, state, need,
                 "what the next step needs failed: the request ends");
    }
    all_ready = all_ready && candidate.status == Status::kReady;
    if (candidate.status != Status::kAbsent) continue;
    if (!absent) absent = need;
    absent_s += candidate.compile.typical_s;
  }
  if (all_ready) return std::nullopt;
  Plan plan;
  if (!running) {
    plan = act(Action::kStart, state, *absent, "the next step needs it");
    plan.expected_stall_s = absent_s;
    return plan;
  }
  if (state.other_compiling || (!running->line && !running->upgrade)) {
    plan = act(Action::kWaitOther, state, 0,
               "one compile at a time, and another is under way for " +
                   in_seconds(running->left_s) + " yet");
  } else if (running->line && *running->line < state.now) {
    plan = act(Action::kWait, state, *running->line,
               "the next step needs it, in " + in_seconds(running->left_s));
  } else {
    const std::string reason = "one compile at a time, and the next step needs another: in " +
                               in_seconds(running->left_s + absent_s);
    plan = running->line ? act(Action::kWait, state, *running->line, reason)
                         : act_upgrade(Action::kWait, state, *running->upgrade, reason);
  }
  plan.expected_stall_s = running->left_s + absent_s;
  return plan;
}

const Candidate* successor_in(const PlannerState& state) {
  if (state.line.size() <= state.now) return nullptr;
  const Candidate& successor = state.line[state.now];
  return std::isfinite(successor.first_use_s) ? &successor : nullptr;
}

/// "needed in 3.2 s and takes up to 0.4 s"
std::string deadline_of(const Candidate& candidate) {
  return "needed in " + in_seconds(candidate.first_use_s) + " and takes up to " +
         in_seconds(candidate.compile.late_s);
}

/// Something compiles that the next step does not wait for.
Plan beside(const PlannerState& state, const Running& running) {
  const bool other = state.other_compiling || (!running.line && !running.upgrade);
  const Candidate* successor = successor_in(state);
  std::string reason = "one compile at a time";
  double ready_s = 0;
  if (successor != nullptr && successor->status == Status::kCompiling) {
    ready_s = running.left_s;
    reason += ": the successor is under way, needed in " + in_seconds(successor->first_use_s) +
              " and ready in " + in_seconds(ready_s);
  } else {
    if (other) reason += ", and another is under way";
    if (!other && running.upgrade) reason += ": the faster program is under way";
    if (!other && !running.upgrade) reason += ": a program for later is under way";
    if (running.left_s > 0) reason += " for " + in_seconds(running.left_s);
    if (successor != nullptr && successor->status == Status::kAbsent) {
      ready_s = running.left_s + successor->compile.typical_s;
      reason += "; the successor is " + deadline_of(*successor);
    }
  }
  Plan plan = proceed(std::move(reason));
  if (successor != nullptr && ready_s > successor->first_use_s) {
    plan.expected_stall_s = ready_s - successor->first_use_s;
    plan.decision.reason += ": a stall of about " + in_seconds(plan.expected_stall_s);
  }
  return plan;
}

Plan start_successor(const PlannerState& state, std::string reason) {
  Plan plan = act(Action::kStart, state, state.now, std::move(reason));
  const Candidate& successor = state.line[state.now];
  if (successor.compile.typical_s > successor.first_use_s) {
    plan.expected_stall_s = successor.compile.typical_s - successor.first_use_s;
    plan.decision.reason += ": a stall of about " + in_seconds(plan.expected_stall_s);
  }
  return plan;
}

/// Nothing compiles and the next step has what it needs.
Plan look_ahead(const PlannerState& state) {
  const Candidate* successor = successor_in(state);
  const bool waiting = successor != nullptr && successor->status == Status::kAbsent;
  const bool has_room = !waiting || fits(successor->bytes, state);
  // What may still pass before the successor has to start. A step that begins now is not
  // interrupted, so the next decision is a step away.
  const double slack_s = waiting
                             ? successor->first_use_s - kMarginLate * successor->compile.late_s -
                                   kMarginS - std::max(state.step_s, state.token_s)
                             : kNever;
  if (slack_s <= 0 && has_room) return start_successor(state, deadline_of(*successor));

  const BestUpgrade best = best_upgrade(state, waiting ? successor->bytes : 0);
  if (best.upgrade) {
    const double upgrade_s = state.upgrades[*best.upgrade].program.compile.late_s;
    // One that takes no longer than the successor leaves it in time: the margin is twice that.
    if (upgrade_s < slack_s || upgrade_s <= successor->compile.late_s) {
      return act_upgrade(Action::kStart, state, *best.upgrade, best.reason);
    }
    return start_successor(state, "before the faster program, which takes up to " +
                                      in_seconds(upgrade_s) + ": " + deadline_of(*successor));
  }

  Plan plan;
  if (!waiting) {
    plan = proceed(successor == nullptr ? "the request ends before it could use a further program"
                   : successor->status == Status::kReady
                       ? "the successor is ready"
                       : "the successor failed: the request ends there");
  } else if (!has_room) {
    plan = proceed("the successor does not fit before it is needed: it takes " +
                   in_megabytes(successor->bytes) + ", and " + in_megabytes(*state.bytes_free) +
                   " are free");
    plan.expected_stall_s = successor->compile.typical_s;
  } else {
    plan = proceed("the successor is " + deadline_of(*successor));
    if (state.token_s > 0) {
      const double tokens = std::clamp(std::ceil(slack_s / state.token_s), 1.0, 1e15);
      plan.until_token = state.tokens_done + static_cast<std::int64_t>(tokens);
      plan.decision.reason += ": it starts at token " + std::to_string(*plan.until_token);
    }
  }
  if (!best.refusal.empty()) plan.decision.reason += "; " + best.refusal;
  return plan;
}

}  // namespace

Plan plan(const PlannerState& state) {
  AHEAD_CHECK(state.now > 0 && state.now <= state.line.size(),
              "what the next step needs is in the line");
  const std::optional<Running> running = running_in(state);
  if (std::optional<Plan> needed = for_next_step(state, running)) return *std::move(needed);
  if (running) return beside(state, *running);
  if (state.switching) return proceed("the successor starts once this program is in use");
  return look_ahead(state);
}

}  // namespace ahead::plan
