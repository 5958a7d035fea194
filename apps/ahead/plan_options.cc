// See plan_options.h. May use: include/ahead.
#include "plan_options.h"

#include <functional>
#include <vector>

#include "ahead/error.h"
#include "option_values.h"
#include "wording.h"

namespace ahead::cli {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 30;
constexpr double kMostSeconds = 1e6;

std::optional<std::int64_t> tokens(std::string_view text) {
  const auto value = parsed<std::int64_t>(text);
  return value && *value >= 1 && *value <= kMostTokens ? value : std::nullopt;
}

std::int64_t count(std::string_view option, const std::string& text) {
  const auto value = tokens(text);
  if (!value) refuse_option(option, text, "a whole number of tokens from 1");
  return *value;
}

std::vector<std::int64_t> chunks(const std::string& text) {
  std::vector<std::int64_t> out;
  for (const std::string_view item : items(text)) {
    const auto value = tokens(item);
    if (!value) refuse_option("--chunks", text, "numbers of tokens from 1, like 32,128");
    out.push_back(*value);
  }
  return out;
}

struct TimeOption {
  std::string_view name;
  double unit = 1;
  std::string_view takes;
};

/// "25", for every rung, or "1024=25,8192=50".
std::map<std::int64_t, double> times(const TimeOption& option, const std::string& text) {
  std::map<std::int64_t, double> out;
  for (const std::string_view item : items(text)) {
    const std::size_t equals = item.find('=');
    const bool named = equals != std::string_view::npos;
    const auto rung = named ? tokens(item.substr(0, equals)) : std::optional<std::int64_t>(0);
    const auto value = parsed<double>(named ? item.substr(equals + 1) : item);
    if (!rung || !value || !(*value > 0 && *value * option.unit <= kMostSeconds) ||
        !out.emplace(*rung, *value * option.unit).second) {
      refuse_option(option.name, text, option.takes);
    }
  }
  return out;
}

}  // namespace

PlanRequest read_plan_flags(const PlanFlags& flags) {
  if (flags.model.has_value() == flags.profile.has_value()) {
    throw Error(ErrorKind::kInvalidArgument,
                flags.model ? "MODEL and --profile are given; a plan is made from one of them"
                            : "a plan needs costs: give a MODEL, or --profile FILE");
  }
  PlanRequest request;
  if (flags.ladder) request.ladder = parse_ladder(*flags.ladder);
  if (flags.chunks) request.chunks = chunks(*flags.chunks);
  if (flags.prompt) request.prompt = count("--prompt", *flags.prompt);
  if (flags.tokens) request.tokens = count("--tokens", *flags.tokens);
  if (flags.schedule) request.schedule = parse_schedule(*flags.schedule);
  if (flags.partition) request.partition = parse_partition(*flags.partition);
  if (flags.kv) request.kv = parse_kv_policy(*flags.kv);
  if (flags.token_ms) {
    request.token_s = times(
        {"--token-ms", 1e-3, "milliseconds above 0, like 25, or by rung, like 1024=25,8192=50"},
        *flags.token_ms);
  }
  if (flags.compile_s) {
    request.compile_s =
        times({"--compile-s", 1, "seconds above 0, like 3, or by rung, like 1024=3,8192=4"},
              *flags.compile_s);
  }
  return request;
}

}  // namespace ahead::cli
