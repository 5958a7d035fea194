// What `ahead plan` says, as text and as JSON. May use: include/ahead, nlohmann-json.
#pragma once

#include <string>

#include "ahead/planning.h"

namespace ahead::cli {

[[nodiscard]] std::string plan_text(const PlanReport& report);
[[nodiscard]] std::string plan_json(const PlanReport& report);

}  // namespace ahead::cli
