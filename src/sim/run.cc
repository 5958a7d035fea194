// Requests, one after the other, in one world. May use: base, plan, runtime.
#include "sim/run.h"

#include <utility>

#include "ahead/error.h"
#include "base/window.h"
#include "plan/cost_model.h"
#include "sim/machine.h"

namespace ahead::sim {
namespace {

kv::Layout layout_of(const Scenario& scenario) {
  kv::Layout layout{.layers = std::vector<kv::LayerShape>(
                        compile::FakeModel::kLayers, {.kv_heads = compile::FakeModel::kKvHeads,
                                                      .head_dim = compile::FakeModel::kHeadDim}),
                    .block_rows = scenario.block_rows,
                    .type = ElementType::kF32};
  if (scenario.window > 0) {
    layout.layers.back().ring_rows = static_cast<std::size_t>(
        ring_rows(scenario.window, static_cast<std::int64_t>(scenario.block_rows)));
  }
  return layout;
}

runtime::Session::Options options_of(const Scenario& scenario) {
  runtime::Session::Options options{.axes = scenario.axes, .prefill_chunk = scenario.chunk};
  options.resident_rungs = scenario.resident;
  options.layout = layout_of(scenario);
  options.prospects.chunks = scenario.chunks;
  options.prospects.weight_bytes = 1 << 20;
  options.prospects.cache_bytes = [](std::int64_t rung) { return rung << 10; };
  options.prospects.forms = {{.name = "soon"}};
  if (scenario.tiers > 1) options.prospects.forms.push_back({.name = "fast", .expected = 0.7});
  return options;
}

/// Appends a request's timeline to those before it.
void join(std::vector<TraceEvent>& all, const std::vector<TraceEvent>& events, double begin_s) {
  for (TraceEvent event : events) {
    event.begin_s += begin_s;
    event.end_s += begin_s;
    all.push_back(std::move(event));
  }
}

}  // namespace

Outcome run(const Scenario& scenario) {
  Outcome outcome;
  std::vector<TraceEvent> trace;
  plan::CostModel costs;
  Invariants invariants(scenario);
  Machine machine(scenario, invariants);
  invariants.watch(machine);
  for (std::size_t number = 0; number < scenario.requests.size(); ++number) {
    const RequestScenario& request = scenario.requests[number];
    std::stop_source stop;
    machine.begin_request(stop);
    invariants.begin_request(request, stop.get_token());
    machine.record(EventKind::kRequest, static_cast<std::int64_t>(number));
    const TimePoint begin = machine.timeline().now();
    RunResult result{.axes = scenario.axes};
    std::optional<std::string> thrown;
    try {
      runtime::Session session(options_of(scenario),
                               {.programs = machine.store(),
                                .pages = machine.pages(),
                                .clock = machine.timeline(),
                                .costs = scenario.remembers ? &costs : nullptr});
      session.run({.prompts = request.prompts,
                   .max_new_tokens = request.max_new_tokens,
                   .stop = stop.get_token()},
                  invariants.callbacks(), result);
    } catch (const Error& error) {
      thrown = error.what();
    }
    invariants.end_request(result, thrown);
    join(trace, result.trace, to_seconds(begin));
    outcome.result = std::move(result);
    if (invariants.violation()) break;
  }
  machine.shut_down();
  invariants.end();
  outcome.violation = invariants.violation();
  outcome.events = machine.events();
  outcome.fired = machine.fired();
  outcome.helped_parts = machine.helped_parts();
  outcome.result.trace = std::move(trace);
  return outcome;
}

}  // namespace ahead::sim
