// The rules of the schedules. May use: base.
#include "plan/schedule.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

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
  const auto first_absent = [&]() -> std::optional<std::size_t> {
    for (std::size_t need = state.current; need < state.current + state.now; ++need) {
      if (state.status[need] == Status::kAbsent) return need;
    }
    return std::nullopt;
  };
  switch (state.schedule) {
    case Schedule::kEager: {
      const auto absent = std::find(state.status.begin(), state.status.end(), Status::kAbsent);
      if (absent == state.status.end()) return nothing("the whole ladder is compiled");
      return start(static_cast<std::size_t>(absent - state.status.begin()),
                   "eager: the whole ladder is compiled before the first token");
    }
    case Schedule::kOneAhead: {
      if (const auto absent = first_absent()) return start(*absent, "the next step needs it");
      if (state.switching) return nothing("the successor starts once this program is in use");
      const std::size_t successor = state.current + state.now;
      if (successor >= state.reachable) {
        return nothing("the request ends before it could use a further program");
      }
      if (state.status[successor] != Status::kAbsent) return nothing("the successor is under way");
      return start(successor, "one ahead: it is the successor of the program in use");
    }
    case Schedule::kOnDemand:
      if (const auto absent = first_absent()) {
        return start(*absent, "on demand: the next step needs it");
      }
      return nothing("on demand: nothing is compiled before it is needed");
    case Schedule::kPlanned:
      AHEAD_CHECK(false, "the planner decides for schedule planned");
  }
  return nothing("");
}

/// Prompts pass through the rungs together: a program for every rung in which one has rows to get.
/// Returns the tokens that are left to be read.
std::int64_t add_prompt_programs(const NeedsQuery& query, Needs& needs) {
  std::int64_t below = 0;
  std::int64_t left = 0;
  for (const std::int64_t rung : query.ladder) {
    std::int64_t here = 0;
    for (const Sequence& sequence : query.sequences) {
      here += std::max<std::int64_t>(
          0, std::min(sequence.prompt, rung) - std::max(sequence.live, below));
    }
    if (here > 0) {
      needs.programs.push_back({.tokens = chunk_on(rung, query.chunk), .rung = rung});
      needs.first_use.push_back({.prompt_tokens = left});
    }
    left += here;
    below = rung;
  }
  return left;
}

/// A decode program, and when it is used first, in steps from now on.
struct Later {
  Need need;
  std::int64_t first_use = 0;
  bool reached = false;  ///< within the token limits
};

std::vector<Later> decode_programs(const NeedsQuery& query) {
  // Without rungs of their own all are where the longest is.
  std::int64_t longest = 0;
  std::vector<Sequence> decoding;
  for (const Sequence& sequence : query.sequences) {
    const std::int64_t begin = std::max(sequence.live, sequence.prompt);
    if (begin >= query.ladder.back()) continue;  // its first token is its last
    longest = std::max(longest, begin);
    decoding.push_back(sequence);
  }
  std::vector<Later> programs;
  std::int64_t below = 0;
  for (const std::int64_t rung : query.ladder) {
    Later program{.need = {1, rung, query.batch},
                  .first_use = std::numeric_limits<std::int64_t>::max()};
    bool used = false;
    for (const Sequence& sequence : decoding) {
      const std::int64_t begin = std::max(sequence.live, sequence.prompt);
      const std::int64_t place = query.own_rungs ? begin : longest;
      if (rung <= place || (!query.own_rungs && rung < query.least_rung)) continue;
      used = true;
      // A step at `live` rows needs a rung above them.
      const bool first = !query.own_rungs && programs.empty();
      program.reached = program.reached || sequence.most > (first ? begin : std::max(begin, below));
      program.first_use =
          std::min(program.first_use, first ? 0 : std::max<std::int64_t>(0, below - place));
    }
    if (used) programs.push_back(program);
    below = rung;
  }
  return programs;
}

}  // namespace

std::int64_t chunk_on(std::int64_t rung, std::int64_t chunk) { return std::min(rung, chunk); }

std::int64_t rung_above(const std::vector<std::int64_t>& ladder, std::int64_t live) {
  const auto rung = std::upper_bound(ladder.begin(), ladder.end(), live);
  return rung == ladder.end() ? ladder.back() : *rung;
}

Needs needs_of(const NeedsQuery& query) {
  AHEAD_CHECK(!query.ladder.empty() && query.chunk > 0, "a request needs a ladder and a chunk");
  AHEAD_CHECK(!query.sequences.empty(), "a request has a sequence that is not at its end");
  for (const Sequence& sequence : query.sequences) {
    AHEAD_CHECK(sequence.prompt >= 1 && sequence.prompt <= query.ladder.back(),
                "a prompt is at least one token and fits the last rung");
  }
  Needs needs;
  const std::int64_t prompt_tokens = add_prompt_programs(query, needs);
  const std::size_t prompts = needs.programs.size();
  needs.reachable = prompts;

  std::vector<Later> later = decode_programs(query);
  std::stable_sort(later.begin(), later.end(), [](const Later& a, const Later& b) {
    return std::pair(!a.reached, a.first_use) < std::pair(!b.reached, b.first_use);
  });
  std::size_t at_once = 0;
  for (const Later& program : later) {
    // A chunk of one token is the decode program already.
    const auto known = std::find(needs.programs.begin(), needs.programs.end(), program.need);
    if (known == needs.programs.end()) {
      needs.programs.push_back(program.need);
      needs.first_use.push_back({.prompt_tokens = prompt_tokens, .steps = program.first_use});
      if (program.reached && program.first_use == 0) ++at_once;
    }
    if (program.reached) needs.reachable = needs.programs.size();
  }
  needs.now = prompts > 0 ? 1 : std::max<std::size_t>(at_once, 1);
  return needs;
}

Decision decide(const State& state) {
  AHEAD_CHECK(state.now > 0 && state.current + state.now <= state.status.size(),
              "the current programs are among the needs");
  const auto begin = state.status.begin() + static_cast<std::ptrdiff_t>(state.current);
  const auto end = begin + static_cast<std::ptrdiff_t>(state.now);
  const auto failed = std::find(begin, end, Status::kFailed);
  if (failed != end) {
    return {Action::kProceed, static_cast<std::size_t>(failed - state.status.begin()),
            "what the next step needs failed: the request ends"};
  }
  const auto compiling = std::find(state.status.begin(), state.status.end(), Status::kCompiling);
  const bool busy = compiling != state.status.end();
  if (!busy) {
    Decision decision = wish(state);
    if (decision.action == Action::kProceed || !state.other_compiling) return decision;
  }
  const auto running = static_cast<std::size_t>(compiling - state.status.begin());
  const bool must_settle_all = state.schedule == Schedule::kEager && !state.first_token_out;
  const bool all_there =
      std::all_of(begin, end, [](Status status) { return status == Status::kReady; });
  if (state.other_compiling && (must_settle_all || !all_there)) {
    return {Action::kWaitOther, state.current, "one compile at a time, and another is under way"};
  }
  if (!all_there) {
    const bool needed = running >= state.current && running < state.current + state.now;
    return {Action::kWait, running,
            needed ? "the next step needs it"
                   : "one compile at a time, and the next step needs another"};
  }
  if (busy && must_settle_all) {
    return {Action::kWait, running, "eager: the whole ladder is compiled before the first token"};
  }
  return {Action::kProceed, state.current, "what the next step needs is there"};
}

}  // namespace ahead::plan
