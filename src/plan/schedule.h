// When to compile what: pure functions from state to one decision and its reason. No clock, no
// thread, no file. May use: base.
//
// A request needs programs in a known order: the prefill programs its prompts pass through, then
// decode programs as its sequences come to their rungs. Every schedule is a rule over that list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/axes.h"
#include "base/program_status.h"

namespace ahead::plan {

/// One program a request needs.
struct Need {
  std::int64_t tokens = 1;  ///< new tokens a sequence and step: 1 decodes, more is prefill
  std::int64_t rung = 0;
  std::int64_t batch = 1;
  std::int64_t tier = 0;  ///< of the forms the decoder is compiled in: 0 is ready soonest

  friend bool operator==(const Need&, const Need&) = default;
};

/// A sequence that is not at its end.
struct Sequence {
  std::int64_t live = 0;    ///< rows it has
  std::int64_t prompt = 1;  ///< rows its prompt takes, from 1 to the last rung
  /// Rows it can come to have by its own token limit; more than the last rung is no limit.
  std::int64_t most = 0;
};

/// What a request is about to do.
struct NeedsQuery {
  std::vector<std::int64_t> ladder;
  std::vector<Sequence> sequences;  ///< at least one
  std::int64_t chunk = 0;           ///< prompt tokens at once, at most
  std::int64_t batch = 1;           ///< sequences decoded together; a prompt goes alone
  /// Every sequence decodes at the rung that holds it; otherwise all at that of the longest.
  bool own_rungs = false;
  /// Without rungs of their own: where they are already, as caches do not shrink when the longest
  /// sequence ends.
  std::int64_t least_rung = 0;
};

/// When a program is used first, from now: after so many tokens of the prompts are read and so many
/// steps are decoded behind that.
struct FirstUse {
  std::int64_t prompt_tokens = 0;
  std::int64_t steps = 0;
};

struct Needs {
  /// In order of first use: for what is left of the prompts, then for decoding.
  std::vector<Need> programs;
  std::vector<FirstUse> first_use;  ///< by program
  std::size_t now = 1;              ///< how many of them the next step needs
  /// Programs the request can reach before its own token limit; the rest only eager compiles.
  std::size_t reachable = 0;
};

/// Chunk that prefill uses on `rung`.
[[nodiscard]] std::int64_t chunk_on(std::int64_t rung, std::int64_t chunk);

/// The smallest rung of `ladder` that has a row beyond `live` ones, or the last.
[[nodiscard]] std::int64_t rung_above(const std::vector<std::int64_t>& ladder, std::int64_t live);

[[nodiscard]] Needs needs_of(const NeedsQuery& query);

/// Where a program stands.
using Status = ProgramStatus;

/// What a decision looks at.
struct State {
  Schedule schedule = Schedule::kOneAhead;
  std::vector<Status> status;  ///< by need
  std::size_t reachable = 0;   ///< of Needs
  std::size_t current = 0;     ///< the first need in use, or about to be
  std::size_t now = 1;         ///< of Needs: how many from `current` on are in use
  bool first_token_out = false;
  /// The current program is only being fetched: its successor starts once it is in use, behind the
  /// freeing of what it replaces.
  bool switching = false;
  /// The one background compile is taken by a program this request does not need.
  bool other_compiling = false;
};

enum class Action {
  kStart,      ///< start compiling `need` now
  kWait,       ///< the request cannot go on before `need` is settled
  kWaitOther,  ///< the request cannot go on, and another request's compile is in the way
  kProceed,    ///< go on with the current program
};

struct Decision {
  Action action = Action::kProceed;
  std::size_t need = 0;
  std::string reason;  ///< a sentence, without the program's name
};

/// The next thing to do. Calling again after doing it ends in kProceed once nothing is in the way.
[[nodiscard]] Decision decide(const State& state);

}  // namespace ahead::plan
