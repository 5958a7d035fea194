// The rules of the schedules. May use: base.
#include "plan/schedule.h"

#include <algorithm>

#include "base/check.h"

namespace ahead::plan {
namespace {

/// The compile the rule would start next, if nothing else were running.
Decision wish(const State& state) {
  const auto start = [](std::size_t need, const char* reason) {
    return Decision{Action::kStart, need, reason};
  };
  const auto nothing = [&](const char* reason) {
    return Decision{Action::kProceed, state.current, reason};
  };
  switch (state.schedule) {
    case Schedule::kEager: {
      const auto absent = std::find(state.status.begin(), state.status.end(), Status::kAbsent);
      if (absent == state.status.end()) return nothing("the whole ladder is compiled");
      return start(static_cast<std::size_t>(absent - state.status.begin()),
                   "eager: the whole ladder is compiled before the first token");
    }
    case Schedule::kOneAhead: {
      if (state.status[state.current] == Status::kAbsent) {
        return start(state.current, "the next step needs it");
      }
      if (state.switching) return nothing("the successor starts once this program is in use");
      const std::size_t successor = state.current + 1;
      if (successor >= state.reachable) {
        return nothing("the request ends before it could use a further program");
      }
      if (state.status[successor] != Status::kAbsent) return nothing("the successor is under way");
      return start(successor, "one ahead: it is the successor of the program in use");
    }
    case Schedule::kOnDemand:
      if (state.status[state.current] == Status::kAbsent) {
        return start(state.current, "on demand: the next step needs it");
      }
      return nothing("on demand: nothing is compiled before it is needed");
  }
  return nothing("");
}

}  // namespace

std::int64_t chunk_on(std::int64_t rung, std::int64_t chunk) { return std::min(rung, chunk); }

Needs needs_of(const NeedsQuery& query) {
  AHEAD_CHECK(!query.ladder.empty() && query.chunk > 0, "a request needs a ladder and a chunk");
  AHEAD_CHECK(query.prompt_tokens >= 1 && query.prompt_tokens <= query.ladder.back(),
              "a prompt is at least one token and fits the last rung");
  Needs needs;
  std::int64_t below = 0;
  for (const std::int64_t rung : query.ladder) {
    if (below < query.prompt_tokens) {
      needs.programs.push_back({chunk_on(rung, query.chunk), rung});
    }
    below = rung;
  }
  needs.reachable = needs.programs.size();
  // The first generated token comes from prefill; each further one takes a step, and a step at
  // `live` rows needs a rung above them.
  const std::int64_t steps = query.max_new_tokens - 1;
  below = 0;
  for (const std::int64_t rung : query.ladder) {
    if (rung > query.prompt_tokens) {
      // A chunk of one token is the decode program already.
      if (needs.programs.empty() || needs.programs.back() != Need{1, rung}) {
        needs.programs.push_back({1, rung});
      }
      const std::int64_t first_live = std::max(query.prompt_tokens, below);
      if (steps > first_live - query.prompt_tokens) needs.reachable = needs.programs.size();
    }
    below = rung;
  }
  return needs;
}

Decision decide(const State& state) {
  AHEAD_CHECK(state.current < state.status.size(), "the current program is one of the needs");
  if (state.status[state.current] == Status::kFailed) {
    return {Action::kProceed, state.current, "what the next step needs failed: the request ends"};
  }
  const auto compiling = std::find(state.status.begin(), state.status.end(), Status::kCompiling);
  const bool busy = compiling != state.status.end();
  if (!busy) {
    Decision decision = wish(state);
    if (decision.action == Action::kProceed || !state.other_compiling) return decision;
  }
  const auto running = static_cast<std::size_t>(compiling - state.status.begin());
  const bool must_settle_all = state.schedule == Schedule::kEager && !state.first_token_out;
  if (state.other_compiling && (must_settle_all || state.status[state.current] != Status::kReady)) {
    return {Action::kWaitOther, state.current, "one compile at a time, and another is under way"};
  }
  if (state.status[state.current] != Status::kReady) {
    return {Action::kWait, running,
            running == state.current ? "the next step needs it"
                                     : "one compile at a time, and the next step needs another"};
  }
  if (busy && must_settle_all) {
    return {Action::kWait, running, "eager: the whole ladder is compiled before the first token"};
  }
  return {Action::kProceed, state.current, "what the next step needs is there"};
}

}  // namespace ahead::plan
