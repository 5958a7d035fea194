// The options of `ahead plan`. May use: include/ahead, CLI11.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ahead/planning.h"

namespace CLI {
class App;
}

namespace ahead::cli {

/// What was asked for.
struct PlanFlags {
  PlanRequest request;  ///< all but the profile, which `model` or `profile` gives
  std::optional<std::string> model;
  std::optional<std::string> profile;
  std::optional<std::string> json;
  std::optional<std::string> trace;
};

/// Adds the options. When they are parsed, `run` is called with what was asked for; parsing throws
/// Error(kInvalidArgument) that names the option, its value and what it takes.
void add_plan_options(CLI::App& command, const std::function<void(const PlanFlags&)>& run);

}  // namespace ahead::cli
