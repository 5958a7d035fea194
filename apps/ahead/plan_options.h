// The options of `ahead plan`: from the words on the command line to a request.
// May use: include/ahead.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ahead/planning.h"

namespace ahead::cli {

/// As typed; absent when the option was not given.
struct PlanFlags {
  std::optional<std::string> model;
  std::optional<std::string> profile;
  std::optional<std::string> ladder;
  std::optional<std::string> prompt;
  std::optional<std::string> tokens;
  std::optional<std::string> token_ms;
  std::optional<std::string> compile_s;
  std::optional<std::string> schedule;
  std::optional<std::string> kv;
  std::optional<std::string> partition;
  std::optional<std::string> chunks;
  std::optional<std::string> json;
  std::optional<std::string> trace;
};

/// All but the profile. Throws Error(kInvalidArgument) naming the option, its value and what it
/// takes.
[[nodiscard]] PlanRequest read_plan_flags(const PlanFlags& flags);

}  // namespace ahead::cli
