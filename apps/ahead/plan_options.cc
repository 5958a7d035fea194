// See plan_options.h. May use: include/ahead, CLI11.
#include "plan_options.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>

#include "ahead/error.h"
#include "axis_names.h"
#include "option_values.h"

namespace ahead::cli {
namespace {

constexpr double kMostSeconds = 1e6;

CLI::Validator tokens() { return number<std::int64_t>(1, std::int64_t{1} << 30); }

/// Reads times: one for every rung, "25", or by rung, "1024=25,8192=50".
auto by_rung(double unit_s) {
  return [unit_s, time = number(std::numeric_limits<double>::min(), kMostSeconds / unit_s)](
             const std::string& typed) {
    std::optional<std::map<std::int64_t, double>> out(std::in_place);
    for (const std::string& item : items(typed)) {
      const std::size_t equals = item.find('=');
      const bool named = equals != std::string::npos;
      std::string rung = named ? item.substr(0, equals) : "0";
      std::string value = named ? item.substr(equals + 1) : item;
      if ((named && !tokens()(rung).empty()) || !time(value).empty() ||
          !out->emplace(std::stoll(rung), std::stod(value) * unit_s).second) {
        return decltype(out)();
      }
    }
    return out;
  };
}

void check(const PlanFlags& flags) {
  if (flags.model.has_value() == flags.profile.has_value()) {
    throw Error(ErrorKind::kInvalidArgument,
                flags.model ? "MODEL and --profile are given; a plan is made from one of them"
                            : "a plan needs costs: give a MODEL, or --profile FILE");
  }
}

}  // namespace

void add_plan_options(CLI::App& command, const std::function<void(const PlanFlags&)>& run) {
  const auto flags = std::make_shared<PlanFlags>();
  PlanRequest& request = flags->request;
  const Takes count{tokens(), "a whole number of tokens from 1"};
  help_comes_first(command);
  OptionGroup group(command);
  group.option(flags->model,
               {"MODEL", "", "A model to guess the costs from: a GGUF file or an IR folder"});
  group.option(flags->profile,
               {"--profile", "FILE", "Take the costs from a profile (see profiles/)"});
  group.read(request.ladder, {"--ladder", "LIST", "Rungs in tokens (default: the profile's)"},
             parse_ladder);
  group.option(request.prompt, {"--prompt", "N", "Tokens of the prompt (default: the profile's)"},
               count);
  group.option(request.tokens, {"--tokens", "N", "Tokens to generate (default: the profile's)"},
               count);
  group.list(
      request.chunks,
      {"--chunks", "LIST", "Prompt tokens at once: fixed schedules use the first, planned chooses"},
      tokens(), "numbers of tokens from 1, like 32,128");
  group.read(request.token_s,
             {"--token-ms", "MS",
              "A decode step, instead of the profile's: 25, or by rung 1024=25,2048=28; rungs that "
              "are not named keep the profile's"},
             by_rung(1e-3), "milliseconds above 0, like 25, or by rung, like 1024=25,8192=50");
  group.read(
      request.compile_s,
      {"--compile-s", "S",
       "What a rung adds to the compile of decoding, instead of the profile's: 3, or by rung "
       "1024=3; rungs that are not named keep the profile's"},
      by_rung(1), "seconds above 0, like 3, or by rung, like 1024=3,8192=4");
  group.read(request.schedule, {"--schedule", "NAME", names(schedules()) + " (default: all)"},
             parse_schedule);
  group.read(request.partition,
             {"--partition", "NAME", names(partitions()) + " (default: all of the profile)"},
             parse_partition);
  group.read(request.kv, {"--kv", "NAME", names(kv_policies()) + " (default: the designs')"},
             parse_kv_policy);
  group.option(flags->json, {"--json", "FILE", "Write everything to this file"});
  group.option(
      flags->trace,
      {"--trace", "FILE", "Write the timeline of the one shown, for Perfetto or chrome://tracing"});
  command.callback([flags, run] {
    check(*flags);
    run(*flags);
  });
}

}  // namespace ahead::cli
