// The forecast's compiler: one program at a time, what is shared once. May use: base.
#include "plan/forecast_programs.h"

#include <algorithm>

#include "base/check.h"

namespace ahead::plan {
namespace {

Estimate sum(const Estimate& a, const Estimate& b) {
  if (a.typical_s == 0) return b;
  if (b.typical_s == 0) return a;
  return {.typical_s = a.typical_s + b.typical_s,
          .late_s = a.late_s + b.late_s,
          .source = std::max(a.source, b.source)};
}

}  // namespace

std::pair<std::int64_t, std::int64_t> ForecastPrograms::shared_key(const Need& need) const {
  const bool any = input_.shared_serves_any_tokens.at(static_cast<std::size_t>(need.tier));
  return {need.tier, any ? 0 : need.tokens};
}

Status ForecastPrograms::status(const Need& need) const {
  if (busy_ && log_.back().need == need) return Status::kCompiling;
  return ready_.contains({need.tier, need.tokens, need.rung}) ? Status::kReady : Status::kAbsent;
}

Estimate ForecastPrograms::compile(const Need& need) const {
  switch (status(need)) {
    case Status::kReady:
    case Status::kFailed:
      return {};
    case Status::kCompiling:
      return {.typical_s = left_s_, .late_s = left_s_};
    case Status::kAbsent:
      break;
  }
  const ProgramCosts costs = input_.costs(need);
  return shared_.contains(shared_key(need)) ? costs.rung_compile
                                            : sum(costs.shared_compile, costs.rung_compile);
}

std::optional<double> ForecastPrograms::busy_s() const {
  return busy_ ? std::optional(left_s_) : std::nullopt;
}

std::optional<double> ForecastPrograms::busy_beside_steps_s() const {
  return busy_ ? std::optional(left_s_ * input_.compile_factor) : std::nullopt;
}

void ForecastPrograms::start(const Need& need, const std::string& reason, double now_s) {
  AHEAD_CHECK(!busy_ && status(need) == Status::kAbsent, "one compile at a time, and each once");
  left_s_ = compile(need).typical_s;
  busy_ = true;
  log_.push_back({.need = need, .reason = reason, .begin_s = now_s});
}

void ForecastPrograms::pass(double seconds, double now_s) {
  if (!busy_) return;
  const double takes_s = left_s_ * input_.compile_factor;
  if (takes_s <= seconds) {
    end(now_s - (seconds - takes_s));
  } else {
    left_s_ -= seconds / input_.compile_factor;
  }
}

double ForecastPrograms::wait(double now_s) {
  AHEAD_CHECK(busy_, "there is a compile to wait for");
  const double seconds = left_s_;
  log_.back().waited_s += seconds;
  end(now_s + seconds);
  return seconds;
}

void ForecastPrograms::end(double at_s) {
  const Need need = log_.back().need;
  log_.back().end_s = at_s;
  ready_.insert({need.tier, need.tokens, need.rung});
  shared_.insert(shared_key(need));
  busy_ = false;
  left_s_ = 0;
}

}  // namespace ahead::plan
