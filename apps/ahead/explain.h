// A run's decisions as sentences, for `ahead run --explain`. May use: include/ahead.
#pragma once

#include <string>

#include "ahead/run_result.h"

namespace ahead::cli {

/// A line a decision, in the order they were made: when, what, and why. Empty when the run made
/// none.
[[nodiscard]] std::string explain(const RunResult& result);

}  // namespace ahead::cli
