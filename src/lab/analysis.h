// What a campaign's runs come to: tables of endpoints, effects, boundaries. Pure.
// May use: base, nlohmann-json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/campaign.h"
#include "lab/journal.h"
#include "lab/statistics.h"

namespace ahead::lab {

/// An arm's values of one endpoint, over the blocks.
struct ArmValues {
  std::string arm;
  std::vector<double> values;  ///< of the runs that told one, by block
  std::size_t failed = 0;      ///< runs that failed
  Spread spread;               ///< where there are values
};

/// One endpoint; of one with a *, one key.
struct EndpointTable {
  const Endpoint* endpoint = nullptr;  ///< of the campaign
  std::string key;
  std::vector<ArmValues> arms;
};

/// A comparison at an endpoint, over the blocks in which both arms told a value.
struct Effect {
  const Endpoint* endpoint = nullptr;  ///< of the campaign
  std::string key;
  std::string from;
  std::string to;
  PairedEffect effect;
};

/// An arm's moves from one rung to the next, over its runs.
struct BoundaryTable {
  std::string arm;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::size_t moves = 0;
  std::size_t ready = 0;          ///< moves whose successor was there
  double wait_s = 0;              ///< median
  double migration_s = 0;         ///< median
  std::int64_t copied_bytes = 0;  ///< of the last
  std::int64_t new_kv_bytes = 0;  ///< what the larger rung reserves beyond the smaller
  std::int64_t compared = 0;      ///< tokens that --verify compared; 0: it did not run
  std::int64_t top1_equal = 0;
  std::optional<double> min_cosine;
};

struct SetAnalysis {
  const Set* set = nullptr;  ///< of the campaign
  std::vector<EndpointTable> endpoints;
  std::vector<Effect> effects;
  std::vector<BoundaryTable> boundaries;
  std::vector<const RunRecord*>
      shown;  ///< of the journal: each arm's first good run, for its curves
};

struct Analysis {
  std::vector<SetAnalysis> sets;
  std::vector<const RunRecord*> failures;  ///< of the journal
  std::size_t wanted = 0;                  ///< runs of the campaign
  std::size_t made = 0;                    ///< runs of the journal that are the campaign's
};

/// `campaign` and `journal` must outlive what is returned.
[[nodiscard]] Analysis analyse(const Campaign& campaign, const Journal& journal);

}  // namespace ahead::lab
