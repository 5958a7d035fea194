// Two choices the planner makes once rather than at every token: how to begin a request, and where
// to go from a full rung whose successor is late. Pure. May use: base.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/estimate.h"
#include "plan/schedule.h"

namespace ahead::plan {

/// A way to begin: read the prompt on `rung` in chunks of `chunk` (1: through the decode program).
struct Start {
  std::int64_t rung = 0;
  std::int64_t chunk = 1;
};

/// What a start will take, in the order things happen.
struct StartCost {
  Start start;
  Estimate prefill_compile;  ///< of the program that reads the prompt
  Estimate decode_compile;  ///< of the first decode program behind it; nothing where it is the same
  double chunk_s = 0;       ///< reading one chunk
  double first_chunk_extra_s = 0;  ///< what the first chunk takes beyond that
  double decode_extra_s = 0;  ///< what decoding on this rung costs beyond the smallest, to its end
};

struct StartDecision {
  Start start;
  double first_token_s = 0;  ///< expected
  std::string reason;
};
/// The start with the earliest first token; among those within a twentieth of it the one whose
/// second token comes first. `starts` is not empty.
[[nodiscard]] StartDecision choose_start(std::int64_t prompt_tokens,
                                         const std::vector<StartCost>& starts);

/// At a boundary whose successor is not ready: where to go.
struct BoundaryChoice {
  struct Option {
    std::int64_t rung = 0;
    Status status = Status::kAbsent;
    Estimate compile;         ///< until it is ready, from now
    double token_s = 0;       ///< there
    std::int64_t tokens = 0;  ///< the request would make up to that rung's end or its own
  };
  std::vector<Option> options;  ///< the successor first, then larger rungs
};
struct RungDecision {
  std::int64_t rung = 0;
  std::string reason;
};
[[nodiscard]] RungDecision choose_rung(const BoundaryChoice& choice);

}  // namespace ahead::plan
