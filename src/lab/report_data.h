// An analysis as the JSON that a report's page draws. Pure. May use: nlohmann-json.
#pragma once

#include "lab/analysis.h"

namespace ahead::lab {

/// Everything a page shows: the campaign, its sessions, and a table and curves a set. The names are
/// those that src/lab/page/report.js reads.
[[nodiscard]] Json report_data(const Campaign& campaign, const Journal& journal,
                               const Analysis& analysis);

}  // namespace ahead::lab
