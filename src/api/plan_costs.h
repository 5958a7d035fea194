// A profile's costs for any rung and chunk: what stands in it, or a line through it.
// May use: plan, include/ahead.
#pragma once

#include <cstdint>
#include <map>

#include "ahead/planning.h"
#include "plan/forecast.h"

namespace ahead::api {

/// What stands for `rung`, or on the line through its neighbours, or beyond the last on the line
/// through the last two. Nothing for an empty table.
[[nodiscard]] Cost cost_on(const RungCosts& costs, std::int64_t rung);

/// One partition's. Keeps references.
class PartitionCosts {
 public:
  PartitionCosts(const PlanRequest& request, const PartitionProfile& partition)
      : request_(&request), partition_(&partition) {}

  [[nodiscard]] plan::ProgramCosts of(std::int64_t tokens, std::int64_t rung) const;

  /// The least trusted of what of() says.
  [[nodiscard]] CostSource source(std::int64_t tokens, std::int64_t rung) const;

  [[nodiscard]] const PartitionProfile& partition() const { return *partition_; }

 private:
  /// As a profile's entry, by one rung.
  struct Step {
    double calls = 0;
    Cost shared_compile;
    Cost rung_compile;
    Cost step;
    Cost read_token;
  };
  [[nodiscard]] Step at(std::int64_t tokens, std::int64_t rung) const;

  const PlanRequest* request_;
  const PartitionProfile* partition_;
};

}  // namespace ahead::api
