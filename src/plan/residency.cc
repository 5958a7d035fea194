// Keeps by use, then by nearness to a request's begin. May use: base.
#include "plan/residency.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace ahead::plan {

std::vector<std::int64_t> rungs_to_drop(const Residency& residency) {
  AHEAD_CHECK(!residency.in_use.empty() && residency.limit > 0, "a rung in use is resident");
  std::set<std::int64_t> kept(residency.in_use.begin(), residency.in_use.end());
  const std::int64_t lowest = *kept.begin();
  if (residency.successor) kept.insert(*residency.successor);
  // Who asks for no more than a switch needs keeps nothing that was left.
  const bool more = residency.limit > 2 && residency.limit > kept.size();
  std::size_t room = more ? residency.limit - kept.size() : 0;
  const std::set<std::int64_t> resident(residency.resident.begin(), residency.resident.end());
  std::vector<std::int64_t> drop;
  for (const std::int64_t rung : resident) {
    if (kept.count(rung) > 0 || (residency.keep_ahead && rung > lowest)) continue;
    if (room > 0) {
      --room;
    } else {
      drop.push_back(rung);
    }
  }
  return drop;
}

}  // namespace ahead::plan
