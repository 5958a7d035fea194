// A run's timeline and cache over time, from the trace of `ahead run --trace`, small enough to be
// kept. Pure. May use: nlohmann-json.
#pragma once

#include "lab/journal.h"

namespace ahead::lab {

/// "timeline": [row, name, begin_s, end_s] in order, decode steps that follow each other joined;
/// "kv": [seconds, live tokens, reserved bytes, committed bytes or null], at most a few hundred.
/// `result` is the run's JSON, `trace` Chrome's trace event format.
[[nodiscard]] Json curves_of(const Json& result, const Json& trace);

}  // namespace ahead::lab
