// Decisions to compiles, waits and releases. May use: base, compile, plan.
#include "runtime/request_programs.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "plan/residency.h"

namespace ahead::runtime {

using graph::ProgramShape;

RequestPrograms::RequestPrograms(Options options, Dependencies dependencies)
    : options_(std::move(options)),
      dependencies_(std::move(dependencies)),
      prospects_(options_.prospects, {.store = dependencies_.store,
                                      .costs = dependencies_.costs,
                                      .this_request = this_request_}) {}

bool RequestPrograms::settled() {
  const auto before = std::exchange(unsettled_, dependencies_.store.compiling());
  return before && before != unsettled_;
}

bool RequestPrograms::due() {
  return options_.schedule != Schedule::kPlanned || --look_again_ < 0 ||
         dependencies_.store.compiling() != seen_compiling_;
}

void RequestPrograms::consult(const plan::Needs& needs, const Standing& standing) {
  report_background();
  learn();
  if (dependencies_.stop.stop_requested()) return;  // nobody will want it
  seen_compiling_ = dependencies_.store.compiling();
  const Step step = decide(needs, standing, false);
  explain(step);
  if (step.decision.action == plan::Action::kStart) {
    start(step);
    seen_compiling_ = shape_of(step.need);
  }
  // Estimates move as steps are measured, at first quickly: nothing is put off for long without
  // another look.
  constexpr std::int64_t kMostSteps = 32;
  look_again_ = standing.reading ? 1 : patience_;
  if (!standing.reading) patience_ = std::min(2 * patience_, kMostSteps);
  if (step.until_token) look_again_ = std::min(look_again_, *step.until_token - standing.live);
  --look_again_;  // due() counts down before the step
}

std::optional<RequestPrograms::Better> RequestPrograms::better(const plan::Needs& needs,
                                                               const Standing& standing) {
  if (options_.schedule != Schedule::kPlanned) return std::nullopt;
  for (const plan::Need& need : prospects_.upgrade_needs(needs, standing)) {
    if (dependencies_.store.state(shape_of(need)) != plan::Status::kReady) continue;
    plan::Adoption adoption = plan::adopt(prospects_.upgrade(need, needs, standing));
    if (adoption.adopt) return Better{need, std::move(adoption.reason)};
  }
  return std::nullopt;
}

void RequestPrograms::learn() {
  if (dependencies_.store.compiling()) return;  // of one compile at a time none is missed
  const auto log = dependencies_.store.log();
  std::size_t& seen = dependencies_.costs.compiles_seen;
  for (; seen < log.size(); ++seen) {
    const compile::CompileLog& entry = log[seen];
    if (entry.failed || !entry.end) continue;
    dependencies_.costs.compiled(
        {prospects_.form_of(entry.shape.tier), entry.missing.kinds, need_of(entry.shape)},
        size_of(entry.missing), to_seconds(*entry.end - entry.begin));
  }
}

void RequestPrograms::learn_step(const ProgramShape& shape, double seconds) {
  if (options_.schedule != Schedule::kPlanned) return;
  const plan::StepKey key{prospects_.form_of(shape.tier), need_of(shape)};
  this_request_.stepped(key, seconds);
  dependencies_.costs.stepped(key, seconds);
}

void RequestPrograms::settle(const plan::Needs& needs, const Standing& standing, bool at_boundary,
                             double& waited_s) {
  compile::ProgramStore& store = dependencies_.store;
  while (true) {
    report_background();
    const auto compiling = store.compiling();
    const Step step = decide(needs, standing, true);
    const plan::Decision& decision = step.decision;
    if (decision.action == plan::Action::kProceed) {
      const plan::Need& need = needs.programs[decision.need];
      const bool failed = store.state(shape_of(need)) == plan::Status::kFailed;
      if (failed) (void)install(need);  // throws; what else the step needs may not be there
      learn();
      return;
    }
    if (dependencies_.stop.stop_requested()) throw Interrupted();  // before one nobody wants
    if (decision.action == plan::Action::kStart) {
      // What was compiled for the rung that is being left is of no use to the next one.
      if (settled()) release_left(needs, standing);
      start(step);
      continue;
    }
    explain(step);
    const ProgramShape awaited =
        decision.action == plan::Action::kWaitOther ? *compiling : shape_of(step.need);
    const TimePoint begin = dependencies_.recorder.now();
    report(Progress::Kind::kCompileBegin, awaited, true, 0);
    const bool came = store.wait(awaited, dependencies_.stop);
    dependencies_.recorder.waited({.shape = awaited, .begin = begin, .at_boundary = at_boundary});
    const double seconds = to_seconds(dependencies_.recorder.now() - begin);
    waited_s += seconds;
    if (!came) throw Interrupted();
    if (background_ == awaited) background_.reset();
    report(Progress::Kind::kCompileEnd, awaited, true, seconds);
  }
}

bool RequestPrograms::ready(const plan::Needs& needs) const {
  return std::all_of(needs.programs.begin(),
                     needs.programs.begin() + static_cast<std::ptrdiff_t>(needs.now),
                     [&](const plan::Need& need) {
                       return dependencies_.store.state(shape_of(need)) == plan::Status::kReady;
                     });
}

std::shared_ptr<compile::Program> RequestPrograms::install(const plan::Need& need) {
  return dependencies_.store.install(shape_of(need));
}

void RequestPrograms::release_left(const plan::Needs& needs, const Standing& standing) {
  const std::vector<std::int64_t>& in_use = standing.rungs;
  const std::vector<ProgramShape> settled = dependencies_.store.settled();
  plan::Residency residency{.in_use = in_use,
                            .limit = options_.resident_rungs,
                            .keep_ahead = options_.schedule == Schedule::kEager};
  for (const ProgramShape& shape : settled) residency.resident.push_back(shape.rung);
  for (std::size_t need = 0; need < needs.reachable; ++need) {
    const std::int64_t rung = needs.programs[need].rung;
    if (std::find(in_use.begin(), in_use.end(), rung) != in_use.end()) continue;
    residency.successor = rung;
    break;
  }
  const std::vector<std::int64_t> drop = plan::rungs_to_drop(residency);
  for (const ProgramShape& shape : settled) {
    std::string reason;
    if (std::find(drop.begin(), drop.end(), shape.rung) != drop.end()) {
      reason = "its rung is neither in use nor next";
    } else if (options_.prospects.bytes_limit > 0 && was_for_earlier(shape, standing)) {
      reason = "there is a limit on memory, and what it was for is done";
    }
    if (reason.empty()) continue;
    dependencies_.recorder.decision("drop " + to_string(shape), std::move(reason));
    dependencies_.store.release(shape);
  }
}

/// Whether a program of a rung in use has no more work in this request: it reads prompts that are
/// read, or decodes in a form or a batch that this request left.
bool RequestPrograms::was_for_earlier(const ProgramShape& shape, const Standing& standing) {
  if (shape.tokens > 1) return !standing.reading;
  if (standing.reading) return false;
  return shape.batch != standing.batch || shape.tier < standing.tier;
}

RequestPrograms::Step RequestPrograms::decide(const plan::Needs& needs, const Standing& standing,
                                              bool switching) const {
  if (options_.schedule != Schedule::kPlanned) return decide_by_rule(needs, switching);
  plan::PlannerState state = prospects_.state(needs, standing);
  state.switching = switching;
  if (const auto since = dependencies_.store.compiling_since(); since && state.busy_s) {
    state.busy_s = std::max(0.0, *state.busy_s - to_seconds(dependencies_.recorder.now() - *since));
  }
  const plan::Plan plan = plan::plan(state);
  return {.decision = plan.decision,
          .need = plan.need,
          .needed_now = !plan.is_upgrade && plan.decision.need < needs.now,
          .until_token = plan.until_token,
          .expected_stall_s = plan.expected_stall_s};
}

RequestPrograms::Step RequestPrograms::decide_by_rule(const plan::Needs& needs,
                                                      bool switching) const {
  const auto compiling = dependencies_.store.compiling();
  plan::State state{.schedule = options_.schedule,
                    .reachable = needs.reachable,
                    .now = needs.now,
                    .first_token_out = first_token_out_,
                    .switching = switching};
  state.other_compiling = compiling.has_value();
  for (const plan::Need& need : needs.programs) {
    const ProgramShape shape = shape_of(need);
    state.status.push_back(dependencies_.store.state(shape));
    if (compiling == shape) state.other_compiling = false;
  }
  const plan::Decision decision = plan::decide(state);
  return {.decision = decision,
          .need = needs.programs[decision.need],
          .needed_now = decision.need < needs.now};
}

void RequestPrograms::start(const Step& step) {
  const ProgramShape wanted = shape_of(step.need);
  dependencies_.recorder.decision("start " + to_string(wanted), step.decision.reason);
  dependencies_.store.start(wanted, step.decision.reason);
  if (step.needed_now) return;  // the wait for it is reported
  background_ = wanted;
  report(Progress::Kind::kCompileBegin, wanted, false, 0);
}

/// Puts a decision that starts nothing on the timeline, once as long as it stands.
void RequestPrograms::explain(const Step& step) {
  const bool waits = step.decision.action != plan::Action::kProceed;
  const bool starts = step.decision.action == plan::Action::kStart;
  // To go on is what a fixed schedule says before every step.
  if (starts || (!waits && options_.schedule != Schedule::kPlanned)) {
    said_.clear();
    return;
  }
  const std::string what = waits              ? "wait for " + to_string(shape_of(step.need))
                           : step.until_token ? "hold"
                           : step.expected_stall_s > 0 ? "expect a stall"
                                                       : "go on";
  // Numbers in a reason move with every token; what is said once is who waits for what.
  const std::string key = what + "/" + to_string(shape_of(step.need));
  if (key == said_) return;
  said_ = key;
  dependencies_.recorder.decision(what, step.decision.reason);
}

/// Tells the end of a background compile, once.
void RequestPrograms::report_background() {
  if (!background_ || dependencies_.store.state(*background_) == plan::Status::kCompiling) return;
  const ProgramShape ended = *std::exchange(background_, std::nullopt);
  const auto log = dependencies_.store.log();
  const auto entry = std::find_if(log.rbegin(), log.rend(),
                                  [&](const auto& compile) { return compile.shape == ended; });
  AHEAD_CHECK(entry != log.rend() && entry->end, "a settled compile is in the log");
  report(Progress::Kind::kCompileEnd, ended, false, to_seconds(*entry->end - entry->begin));
}

void RequestPrograms::report(Progress::Kind kind, const ProgramShape& shape, bool foreground,
                             double seconds) const {
  if (!dependencies_.progress) return;
  dependencies_.progress({.kind = kind,
                          .program = shape.phase(),
                          .rung = shape.rung,
                          .foreground = foreground,
                          .seconds = seconds});
}

}  // namespace ahead::runtime
