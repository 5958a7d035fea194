// The planner's state by the forecast's costs; as runtime/prospects.cc makes it of a real request.
// May use: base.
#include "plan/forecast_view.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace ahead::plan {
namespace {

/// Programs behind those the next step needs that the planner looks at.
constexpr std::size_t kSeenAhead = 2;

/// A token, of whichever step.
Estimate token_of(const ForecastInput& input, const Need& need) {
  Estimate estimate = input.costs(need).step;
  estimate.typical_s /= static_cast<double>(need.tokens);
  estimate.late_s /= static_cast<double>(need.tokens);
  return estimate;
}

Candidate candidate_of(const ForecastPrograms& programs, const Need& need) {
  return {.need = need, .status = programs.status(need), .compile = programs.compile(need)};
}

double read_token_s(const ForecastInput& input, const Need& need) {
  const ProgramCosts costs = input.costs(need);
  if (need.tokens == 1 && costs.read_token_s > 0) return costs.read_token_s;
  return costs.step.typical_s / static_cast<double>(need.tokens);
}

/// Seconds until a program of the line is used first.
double first_use_s(const ForecastInput& input, const Place& place, const Needs& needs,
                   std::size_t index) {
  if (index < needs.now) return 0;
  const Need& first = needs.programs.front();
  const FirstUse& use = needs.first_use[index];
  const double read_s = place.reading ? read_token_s(input, first) : 0;
  const Need decoding = place.reading ? Need{.rung = first.rung} : first;
  return static_cast<double>(use.prompt_tokens) * read_s +
         static_cast<double>(use.steps) * input.costs(decoding).step.typical_s;
}

std::int64_t tier_for(const ForecastInput& input, const ForecastPrograms& programs, Need need,
                      double first_use_s) {
  const auto tiers = static_cast<std::int64_t>(input.shared_serves_any_tokens.size());
  const auto step_s = [&] { return input.costs(need).step.typical_s; };
  need.tier = 0;
  const double first_step_s = step_s();
  // A form may be faster on some rungs and slower on others.
  const auto worse = [&] { return need.tier > 0 && step_s() >= first_step_s; };
  for (const Status wanted : {Status::kReady, Status::kCompiling}) {
    for (need.tier = tiers - 1; need.tier >= 0; --need.tier) {
      if (programs.status(need) == wanted && !worse()) return need.tier;
    }
  }
  std::int64_t soonest = 0;
  double soonest_s = std::numeric_limits<double>::infinity();
  for (need.tier = tiers - 1; need.tier >= 0; --need.tier) {
    if (worse()) continue;
    const Estimate compile = programs.compile(need);
    if (compile.late_s < first_use_s) return need.tier;
    if (compile.typical_s >= soonest_s) continue;
    soonest_s = compile.typical_s;
    soonest = need.tier;
  }
  return soonest;
}

}  // namespace

std::vector<StartCost> starts_of(const ForecastInput& input, const ForecastPrograms& programs) {
  std::vector<StartCost> starts;
  // Where the prompt fits.
  const std::int64_t target = rung_above(input.ladder, input.prompt - 1);
  std::vector<std::int64_t> chunks = input.chunks;
  chunks.push_back(1);
  std::sort(chunks.begin(), chunks.end());
  for (const std::int64_t rung : input.ladder) {
    if (rung > target) break;
    std::optional<std::int64_t> before;
    for (const std::int64_t size : chunks) {
      const std::int64_t chunk = chunk_on(rung, size);
      if (before == chunk) continue;
      before = chunk;
      const Need prefill{.tokens = chunk, .rung = rung};
      const Need decode{.rung = std::max(rung, rung_above(input.ladder, input.prompt))};
      StartCost cost{.start = {.rung = rung, .chunk = chunk},
                     .prefill_compile = programs.compile(prefill),
                     .chunk_s = read_token_s(input, prefill) * static_cast<double>(chunk)};
      if (!(prefill == decode)) cost.decode_compile = programs.compile(decode);
      // The rungs a prompt passes through compile behind the reading on those before them.
      double behind_s = read_token_s(input, prefill) * static_cast<double>(rung);
      for (const std::int64_t later : input.ladder) {
        if (later <= rung || later > target) continue;
        const Need passed{.tokens = chunk, .rung = later};
        const double takes_s = input.costs(passed).rung_compile.typical_s * input.compile_factor;
        cost.first_chunk_extra_s += std::max(0.0, takes_s - behind_s);
        behind_s = read_token_s(input, passed) * static_cast<double>(later) / 2;
      }
      starts.push_back(cost);
    }
  }
  return starts;
}

void choose_tiers(const ForecastInput& input, const ForecastPrograms& programs, const Place& place,
                  Needs& needs) {
  const std::size_t seen = std::min(needs.programs.size(), needs.now + kSeenAhead);
  for (std::size_t index = 0; index < seen; ++index) {
    Need& need = needs.programs[index];
    if (need.tokens > 1 || place.reading) continue;
    const Need in_use{.rung = need.rung, .tier = place.tier};
    const bool stays = need.rung == place.rung && programs.status(in_use) == Status::kReady;
    need.tier = stays ? place.tier
                      : tier_for(input, programs, need, first_use_s(input, place, needs, index));
  }
}

std::vector<Upgrade> upgrades_of(const ForecastInput& input, const ForecastPrograms& programs,
                                 const Place& place, const Need& now) {
  std::vector<Upgrade> upgrades;
  const auto add = [&](const Need& better, std::int64_t tokens_left) {
    upgrades.push_back({.program = candidate_of(programs, better),
                        .token = token_of(input, better),
                        .token_now = token_of(input, now),
                        .tokens_left = tokens_left});
  };
  if (place.reading) {
    for (const std::int64_t chunk : input.chunks) {
      const Need larger{.tokens = chunk_on(now.rung, chunk), .rung = now.rung};
      if (larger.tokens > now.tokens) {
        add(larger, std::min(place.prompt_left, now.rung - place.live));
      }
    }
    return upgrades;
  }
  const auto tiers = static_cast<std::int64_t>(input.shared_serves_any_tokens.size());
  for (std::int64_t tier = now.tier + 1; tier < tiers; ++tier) {
    add({.rung = now.rung, .tier = tier}, std::min(place.most, now.rung) - place.live);
  }
  return upgrades;
}

PlannerState state_of(const ForecastInput& input, const ForecastPrograms& programs,
                      const Place& place, const Needs& needs, bool switching) {
  const Need& now = needs.programs.front();
  PlannerState state{.now = needs.now,
                     .upgrades = upgrades_of(input, programs, place, now),
                     .busy_s = programs.busy_s(),
                     .switching = switching,
                     .tokens_done = place.live};
  state.token_s = place.reading ? read_token_s(input, now) : input.costs(now).step.typical_s;
  state.step_s = state.token_s * static_cast<double>(now.tokens);
  const std::size_t seen = std::min(std::max(needs.reachable, needs.now), needs.now + kSeenAhead);
  for (std::size_t index = 0; index < seen; ++index) {
    Candidate candidate = candidate_of(programs, needs.programs[index]);
    candidate.first_use_s = first_use_s(input, place, needs, index);
    state.line.push_back(candidate);
  }
  const auto compiling = [](const Candidate& candidate) {
    return candidate.status == Status::kCompiling;
  };
  state.other_compiling =
      state.busy_s && std::none_of(state.line.begin(), state.line.end(), compiling) &&
      std::none_of(state.upgrades.begin(), state.upgrades.end(),
                   [&](const Upgrade& upgrade) { return compiling(upgrade.program); });
  return state;
}

}  // namespace ahead::plan
