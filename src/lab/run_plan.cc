// See run_plan.h. May use: std.
#include "lab/run_plan.h"

#include <algorithm>
#include <set>

#include "lab/williams.h"

namespace ahead::lab {

std::vector<RunKey> runs_of(const Campaign& campaign) {
  std::vector<RunKey> runs;
  for (std::size_t block = 0; block < campaign.protocol.blocks; ++block) {
    for (std::size_t at = 0; at < campaign.sets.size(); ++at) {
      const Set& set = campaign.sets[at];
      std::vector<const Arm*> arms;
      std::vector<const Arm*> once;
      for (const Arm& arm : campaign.arms) {
        if (arm.runs_in(set.name)) (arm.once ? once : arms).push_back(&arm);
      }
      if (!arms.empty()) {
        const auto sequences = williams_sequences(arms.size());
        // Sets begin at different sequences, for the blocks that are too few to go through all.
        for (const std::size_t arm : sequences[(block + at) % sequences.size()]) {
          runs.push_back({block, set.name, arms[arm]->name});
        }
      }
      if (block > 0) continue;
      for (const Arm* arm : once) runs.push_back({block, set.name, arm->name});
    }
  }
  return runs;
}

std::vector<RunKey> remaining(const std::vector<RunKey>& runs, const std::vector<RunKey>& done) {
  const std::set<RunKey> there(done.begin(), done.end());
  std::vector<RunKey> left;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(left),
               [&](const RunKey& run) { return !there.contains(run); });
  return left;
}

}  // namespace ahead::lab
