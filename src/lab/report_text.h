// A report as text: Markdown for people, CSV for programs. Pure. May use: base, nlohmann-json.
#pragma once

#include <string>

#include "lab/analysis.h"

namespace ahead::lab {

/// Tables of endpoints, effects with their intervals, boundaries and failures.
[[nodiscard]] std::string report_markdown(const Campaign& campaign, const Journal& journal,
                                          const Analysis& analysis);

/// One line a run and endpoint: set,block,arm,endpoint,key,unit,value,error (RFC 4180). A failed
/// run has a line of its own, without a value.
[[nodiscard]] std::string report_csv(const Campaign& campaign, const Journal& journal);

/// A number with so many digits as its size makes sensible: "0.0123", "1.23", "123", "12,300".
[[nodiscard]] std::string readable(double value);

}  // namespace ahead::lab
