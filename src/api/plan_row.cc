// See plan_row.h. May use: plan, base, include/ahead.
#include "api/plan_row.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "api/plan_costs.h"
#include "plan/forecast.h"

namespace ahead::api {
namespace {

/// The forms of the decoder by tier: the one to begin with, and behind groups of layers the cut at
/// attention where that steps faster, as a pipeline has them.
std::vector<PartitionCosts> forms_of(const PlanRequest& request, const PlanCase& plan_case) {
  std::vector<PartitionCosts> forms;
  forms.emplace_back(request, *plan_case.partition);
  const bool blocks = plan_case.partition->partition.kind == Partition::Kind::kBlocks;
  if (!plan_case.may_change || plan_case.schedule != Schedule::kPlanned || !blocks) return forms;
  const auto steps_s = [&](const PartitionCosts& costs) {
    double sum = 0;
    for (const std::int64_t rung : plan_case.ladder) sum += costs.of(1, rung).step.typical_s;
    return sum;
  };
  for (const PartitionProfile& partition : request.profile.partitions) {
    const PartitionCosts costs(request, partition);
    if (partition.partition == Partition::kAttention && steps_s(costs) < steps_s(forms.front())) {
      forms.push_back(costs);
    }
  }
  return forms;
}

/// The design with these axes, if there is one, and the cache's policy that goes with them.
void set_axes(const PlanRequest& request, const PlanCase& plan_case, PlanForecast& row) {
  row.axes = {.ladder = plan_case.ladder,
              .schedule = plan_case.schedule,
              .kv = request.kv.value_or(default_design().kv),
              .partition = plan_case.partition->partition};
  for (const Design& design : designs()) {
    if (design.last_rung_only && plan_case.ladder.size() > 1) continue;
    if (design.schedule != row.axes.schedule || !(design.partition == row.axes.partition)) continue;
    if (request.kv && design.kv != *request.kv) continue;
    row.axes.kv = design.kv;
    row.design = std::string(design.name);
  }
}

std::vector<PlanRung> rungs_of(const plan::Forecast& forecast,
                               const std::vector<PartitionCosts>& forms) {
  std::vector<PlanRung> rungs;
  for (const plan::ForecastRung& from : forecast.rungs) {
    PlanRung rung{.rung = from.rung,
                  .used = from.used,
                  .window_s = from.window_s,
                  .window_tokens = from.window_tokens,
                  .compile_s = from.compile_s,
                  .wait_s = from.wait_s,
                  .token_s = forms.front().of(1, from.rung).step.typical_s,
                  .tokens = from.tokens,
                  .source = forms.front().source(1, from.rung)};
    if (from.tokens > 0) rung.token_s = from.decode_s / static_cast<double>(from.tokens);
    if (from.window_s) rung.slack_s = *from.window_s - from.compile_s;
    for (const plan::ForecastCompile& compile : forecast.compiles) {
      if (compile.need.rung != from.rung) continue;
      const auto tier = static_cast<std::size_t>(compile.need.tier);
      rung.source = std::max(rung.source, forms[tier].source(compile.need.tokens, from.rung));
    }
    rungs.push_back(rung);
  }
  return rungs;
}

void add_compiles(const plan::Forecast& forecast, PlanForecast& row) {
  for (const plan::ForecastCompile& compile : forecast.compiles) {
    row.compiles.push_back({.part = compile.need.tokens == 1 ? "decode" : "prefill",
                            .rung = compile.need.rung,
                            .begin_s = compile.begin_s,
                            .end_s = compile.end_s,
                            .foreground = compile.waited_s > 0,
                            .waited_s = compile.waited_s,
                            .reason = compile.reason});
    row.trace.push_back({.row = "compiler",
                         .name = plan::name_of(compile.need),
                         .begin_s = compile.begin_s,
                         .end_s = compile.end_s,
                         .notes = {{"reason", compile.reason}}});
  }
}

/// The parts that are taken up behind the first form, in that order.
std::vector<Partition> faster_of(const plan::Forecast& forecast,
                                 const std::vector<PartitionCosts>& forms) {
  std::vector<Partition> faster;
  for (const plan::ForecastSpan& span : forecast.spans) {
    if (span.need.tier == 0) continue;
    const Partition partition =
        forms[static_cast<std::size_t>(span.need.tier)].partition().partition;
    if (std::find(faster.begin(), faster.end(), partition) == faster.end()) {
      faster.push_back(partition);
    }
  }
  return faster;
}

}  // namespace

PlanForecast forecast_row(const PlanRequest& request, const PlanCase& plan_case) {
  const std::vector<PartitionCosts> forms = forms_of(request, plan_case);
  PlanForecast row;
  set_axes(request, plan_case, row);

  plan::ForecastInput input{.ladder = plan_case.ladder,
                            .prompt = plan_case.prompt,
                            .tokens = plan_case.tokens,
                            .schedule = plan_case.schedule,
                            .chunks = plan_case.chunks,
                            .shared_serves_any_tokens = {},
                            .step_factor = request.profile.step_factor,
                            .compile_factor = request.profile.compile_factor};
  for (const PartitionCosts& form : forms) {
    input.shared_serves_any_tokens.push_back(form.partition().shared_serves_any_tokens);
  }
  input.costs = [&](const plan::Need& need) {
    return forms[static_cast<std::size_t>(need.tier)].of(need.tokens, need.rung);
  };
  const auto migration = request.profile.migration.find(row.axes.kv);
  input.migration_s = [&](std::int64_t rung) {
    return migration == request.profile.migration.end() ? 0
                                                        : cost_on(migration->second, rung).seconds;
  };
  const plan::Forecast forecast = plan::forecast(input);

  row.faster = faster_of(forecast, forms);
  if (!row.faster.empty()) row.design.clear();  // no preset goes from one partition to another
  row.first_rung = forecast.first_rung;
  row.first_chunk = forecast.first_chunk;
  row.foreground_compile_s = forecast.foreground_compile_s;
  row.hidden_compile_s = forecast.hidden_compile_s;
  row.prefill_s = forecast.prefill_s;
  row.decode_s = forecast.decode_s;
  row.boundary_wait_s = forecast.boundary_wait_s;
  row.migration_s = forecast.migration_s;
  row.critical_path_s = forecast.critical_path_s();
  row.first_token_s = forecast.first_token_s;
  row.rungs = rungs_of(forecast, forms);
  for (const plan::ForecastDecision& decision : forecast.decisions) {
    row.decisions.push_back({decision.at_s, decision.at_token, decision.what, decision.reason});
    row.trace.push_back({.row = "decisions",
                         .name = decision.what,
                         .begin_s = decision.at_s,
                         .end_s = decision.at_s,
                         .notes = {{"reason", decision.reason}}});
  }
  for (const plan::ForecastSpan& span : forecast.spans) {
    row.trace.push_back({.row = "device",
                         .name = plan::name_of(span.need),
                         .begin_s = span.begin_s,
                         .end_s = span.end_s,
                         .numbers = {{"tokens", static_cast<double>(span.tokens)}}});
  }
  add_compiles(forecast, row);
  return row;
}

}  // namespace ahead::api
