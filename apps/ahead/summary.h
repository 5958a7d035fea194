// The closing summary on standard error: pure functions from results to text.
// May use: include/ahead.
#pragma once

#include <string>

#include "ahead/run_result.h"
#include "ahead/verify.h"

namespace ahead::cli {

/// What the run did: first token, compiles, tokens per second on each rung, boundaries, memory.
[[nodiscard]] std::string summary(const RunResult& result);

/// One row a boundary, and the verdict.
[[nodiscard]] std::string verify_table(const VerifyReport& report);

/// The error of a report that did not pass: the first boundary that differs.
[[nodiscard]] std::string verify_failure(const VerifyReport& report);

}  // namespace ahead::cli
