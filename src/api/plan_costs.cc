// Lookups, lines between, and how far to trust them. May use: plan, base, include/ahead.
#include "api/plan_costs.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace ahead::api {
namespace {

struct Point {
  double x = 0;
  Cost cost;
};

Cost on_line(const Point& a, const Point& b, double x, CostSource how) {
  const double share = (x - a.x) / (b.x - a.x);
  const double seconds = a.cost.seconds + share * (b.cost.seconds - a.cost.seconds);
  // A line that falls does not go below a tenth of what is known.
  const double least = std::min(a.cost.seconds, b.cost.seconds) / 10;
  return {std::max(least, seconds), std::max({a.cost.source, b.cost.source, how})};
}

plan::Estimate estimate_of(const Cost& cost) {
  double late = 1.5;
  plan::Source source = plan::Source::kScaled;
  if (cost.source <= CostSource::kPublished) {
    late = 1.25;
    source = plan::Source::kMeasured;
  } else if (cost.source == CostSource::kGuessed) {
    late = 4;
    source = plan::Source::kGuess;
  }
  return {.typical_s = cost.seconds, .late_s = late * cost.seconds, .source = source};
}

/// What the caller gave for a rung, or for all.
void override_by(const std::map<std::int64_t, double>& given, std::int64_t rung, Cost& cost) {
  auto found = given.find(rung);
  if (found == given.end()) found = given.find(0);
  if (found != given.end()) cost = {found->second, CostSource::kGiven};
}

}  // namespace

Cost cost_on(const RungCosts& costs, std::int64_t rung) {
  if (costs.empty()) return {0, CostSource::kGiven};
  const auto exact = costs.find(rung);
  if (exact != costs.end()) return exact->second;
  if (costs.size() == 1) {
    return {costs.begin()->second.seconds,
            std::max(costs.begin()->second.source, CostSource::kExtrapolated)};
  }
  auto above = costs.upper_bound(rung);
  const bool inside = above != costs.begin() && above != costs.end();
  if (above == costs.end()) --above;
  if (above == costs.begin()) ++above;
  const auto below = std::prev(above);
  const auto point = [](const auto& entry) {
    return Point{static_cast<double>(entry.first), entry.second};
  };
  return on_line(point(*below), point(*above), static_cast<double>(rung),
                 inside ? CostSource::kInterpolated : CostSource::kExtrapolated);
}

PartitionCosts::Step PartitionCosts::at(std::int64_t tokens, std::int64_t rung) const {
  const auto entry = [&](const StepProfile& step) {
    return Step{.calls = static_cast<double>(step.calls),
                .shared_compile = step.shared_compile,
                .rung_compile = cost_on(step.rung_compile, rung),
                .step = cost_on(step.step, rung),
                .read_token = cost_on(step.read_token, rung)};
  };
  const auto above = std::find_if(partition_->steps.begin(), partition_->steps.end(),
                                  [&](const StepProfile& step) { return step.tokens >= tokens; });
  AHEAD_CHECK(above != partition_->steps.end(), "no chunk is larger than the profile's largest");
  Step found = entry(*above);
  if (above->tokens != tokens) {
    const StepProfile& before = *std::prev(above);
    const Step less = entry(before);
    const auto between = [&](const Cost& a, const Cost& b) {
      return on_line({static_cast<double>(before.tokens), a},
                     {static_cast<double>(above->tokens), b}, static_cast<double>(tokens),
                     CostSource::kInterpolated);
    };
    found.shared_compile = between(less.shared_compile, found.shared_compile);
    found.rung_compile = between(less.rung_compile, found.rung_compile);
    found.step = between(less.step, found.step);
    found.calls = std::max(less.calls, found.calls);
  }
  if (tokens == 1) {
    override_by(request_->token_s, rung, found.step);
    override_by(request_->compile_s, rung, found.rung_compile);
  }
  return found;
}

plan::ProgramCosts PartitionCosts::of(std::int64_t tokens, std::int64_t rung) const {
  Step step = at(tokens, rung);
  const double calls_s = step.calls * request_->profile.call.seconds;
  // A time that the caller gives is whole.
  if (step.step.source != CostSource::kGiven) step.step.seconds += calls_s;
  if (step.read_token.seconds > 0) step.read_token.seconds += calls_s;
  return {.shared_compile = estimate_of(step.shared_compile),
          .rung_compile = estimate_of(step.rung_compile),
          .step = estimate_of(step.step),
          .read_token_s = step.read_token.seconds};
}

CostSource PartitionCosts::source(std::int64_t tokens, std::int64_t rung) const {
  const Step step = at(tokens, rung);
  CostSource least = std::max(step.rung_compile.source, step.step.source);
  if (step.shared_compile.seconds > 0) least = std::max(least, step.shared_compile.source);
  return least;
}

}  // namespace ahead::api
