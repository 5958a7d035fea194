// From where a request stands to what the planner looks at: programs, where they stand, and what
// they will cost. May use: base, compile, plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compile/program_store.h"
#include "plan/choices.h"
#include "plan/cost_model.h"
#include "plan/planner.h"
#include "plan/schedule.h"

namespace ahead::runtime {

/// The program that a need is for, and the other way round.
[[nodiscard]] graph::ProgramShape shape_of(const plan::Need& need);
[[nodiscard]] plan::Need need_of(const graph::ProgramShape& shape);

[[nodiscard]] plan::GraphSize size_of(const compile::MissingParts& missing);

/// One form of the decoder, by tier.
struct Form {
  std::string name;  ///< "attention", "attention/joined"
  /// A decode step with it, as a share of one with the form before it, while nobody measured
  /// either.
  double expected = 1;
};

/// Where a request stands, over all its sequences.
struct Standing {
  bool reading = false;  ///< prompts; otherwise decoding
  std::int64_t chunk = 1;
  std::int64_t prompt_left = 0;
  /// Of each prompt that is not read, what is left of it for the rung on which reading is.
  std::vector<std::int64_t> left_on_rung;
  std::int64_t live = 0;  ///< of the furthest sequence
  std::int64_t most = 0;  ///< rows that one can come to have
  std::int64_t batch = 1;
  std::int64_t tier = 0;
  std::int64_t last_rung = 0;
  std::vector<std::int64_t> rungs;  ///< that its sequences use, or are about to; repeats may be
};

/// Decode thread only.
class Prospects {
 public:
  struct Options {
    std::vector<Form> forms = {{}};
    std::vector<std::int64_t> chunks;  ///< that a prompt may be read in
    std::int64_t weight_bytes = 0;     ///< that a step reads
    /// Of K and V over all layers, in one sequence's cache of that rung.
    std::function<std::int64_t(std::int64_t rung)> cache_bytes = [](std::int64_t) { return 0; };
    std::int64_t bytes_limit = 0;  ///< of weights in compiled programs; 0: none
  };
  struct Sources {
    const compile::ProgramStore& store;
    const plan::CostModel& costs;         ///< measured at any time
    const plan::CostModel& this_request;  ///< steps measured in this request
  };
  Prospects(Options options, const Sources& sources)
      : options_(std::move(options)),
        store_(sources.store),
        costs_(sources.costs),
        this_request_(sources.this_request) {}

  [[nodiscard]] plan::PlannerState state(const plan::Needs& needs, const Standing& standing) const;

  /// Programs that do the work of the one in use in less time, by what they are: larger chunks of a
  /// prompt, higher tiers of decoding. And one of them with what it takes.
  [[nodiscard]] std::vector<plan::Need> upgrade_needs(const plan::Needs& needs,
                                                      const Standing& standing) const;
  [[nodiscard]] plan::Upgrade upgrade(const plan::Need& better, const plan::Needs& needs,
                                      const Standing& standing) const;

  /// Ways to begin with a prompt of `prompt_tokens` on the rungs of `ladder`.
  struct StartQuery {
    std::vector<std::int64_t> ladder;
    std::int64_t prompt_tokens = 0;  ///< of the longest
    /// Of the shortest, where sequences have rungs of their own: none is to decode on a rung that
    /// is larger than it needs. Otherwise of the longest too.
    std::int64_t least_prompt_tokens = 0;
    std::int64_t batch = 1;
  };
  [[nodiscard]] std::vector<plan::StartCost> starts(const StartQuery& query) const;

  /// The tier to decode with on a rung that is used `first_use_s` from now, of those up to `most`:
  /// the fastest that is there by then; else one under way; else the one that is soonest.
  struct TierQuery {
    plan::Need need;
    std::int64_t most = 0;
    double first_use_s = 0;
  };
  [[nodiscard]] std::int64_t tier_for(const TierQuery& query) const;

  /// Of a whole step, and of one token of it. Higher tiers are compared by what this request
  /// measured: at another time the machine may have had other things to do, and a form that is not
  /// used is never measured again.
  [[nodiscard]] plan::Estimate step(const plan::Need& need) const;
  [[nodiscard]] plan::Estimate token(const plan::Need& need) const;

  /// The chunk to go on with on the rung of `need`, whose tokens are the chunk so far: the fastest
  /// that is there, else one under way, else the one so far; another only where that failed.
  [[nodiscard]] std::int64_t chunk_for(const plan::Need& need) const;

  /// Where a sequence of `live` rows that can come to have `most` may go from its full rung.
  struct BoundaryQuery {
    std::vector<std::int64_t> rungs;  ///< above the full one, in order
    std::int64_t live = 0;
    std::int64_t most = 0;
    std::int64_t tier = 0;
  };
  [[nodiscard]] plan::BoundaryChoice boundary(const BoundaryQuery& query) const;

  /// What is missing of a program, now or once `before` is compiled.
  [[nodiscard]] plan::Estimate compile(
      const plan::Need& need, const std::optional<plan::Need>& before = std::nullopt) const;

  [[nodiscard]] const std::string& form_of(std::int64_t tier) const;

 private:
  [[nodiscard]] plan::Candidate candidate(
      const plan::Need& need, const std::optional<plan::Need>& before = std::nullopt) const;

  const Options options_;
  const compile::ProgramStore& store_;
  const plan::CostModel& costs_;
  const plan::CostModel& this_request_;
};

}  // namespace ahead::runtime
