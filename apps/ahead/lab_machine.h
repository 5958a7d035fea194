// What machine and what state of the project a campaign's runs are of. May use: include/ahead,
// base, POSIX, nlohmann-json.
#pragma once

#include <string>

#include "lab/journal.h"

namespace ahead::cli {

/// A session's facts: when it began, the machine in a line (a campaign is not gone on with on
/// another one), system, Ahead's version, and the commit of the project that `folder` is of, with
/// a + behind it where files differ from it; null where there is none.
[[nodiscard]] lab::Json session_facts(const std::string& folder);

/// The average number of running processes over the last minute, as the kernel has it.
[[nodiscard]] double load_average();

}  // namespace ahead::cli
