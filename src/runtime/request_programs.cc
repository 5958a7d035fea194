// Decisions to compiles, waits and releases. May use: base, compile, plan.
#include "runtime/request_programs.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "plan/residency.h"

namespace ahead::runtime {

using graph::ProgramShape;

ProgramShape shape_of(const plan::Need& need) {
  return {.batch = need.batch, .tokens = need.tokens, .rung = need.rung};
}

RequestPrograms::RequestPrograms(Options options, Dependencies dependencies)
    : options_(options), dependencies_(std::move(dependencies)) {}

void RequestPrograms::consult(const plan::Needs& needs) {
  report_background();
  if (dependencies_.stop.stop_requested()) return;  // nobody will want it
  const plan::Decision decision = decide(needs, false);
  if (decision.action == plan::Action::kStart) start(needs, decision);
}

double RequestPrograms::settle(const plan::Needs& needs, bool at_boundary) {
  compile::ProgramStore& store = dependencies_.store;
  double waited_s = 0;
  while (true) {
    const auto compiling = store.compiling();
    const plan::Decision decision = decide(needs, true);
    if (decision.action == plan::Action::kProceed) {
      const plan::Need& need = needs.programs[decision.need];
      const bool failed = store.state(shape_of(need)) == plan::Status::kFailed;
      if (failed) (void)install(need);  // throws; what else the step needs may not be there
      return waited_s;
    }
    if (dependencies_.stop.stop_requested()) throw Interrupted();  // before one nobody wants
    if (decision.action == plan::Action::kStart) {
      start(needs, decision);
      continue;
    }
    const ProgramShape awaited = decision.action == plan::Action::kWaitOther
                                     ? *compiling
                                     : shape_of(needs.programs[decision.need]);
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

void RequestPrograms::release_left(const std::vector<std::int64_t>& in_use,
                                   const plan::Needs& needs) {
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
    if (std::find(drop.begin(), drop.end(), shape.rung) != drop.end()) {
      dependencies_.store.release(shape);
    }
  }
}

plan::Decision RequestPrograms::decide(const plan::Needs& needs, bool switching) const {
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
  return plan::decide(state);
}

void RequestPrograms::start(const plan::Needs& needs, const plan::Decision& decision) {
  report_background();
  const ProgramShape wanted = shape_of(needs.programs[decision.need]);
  dependencies_.recorder.decision("start " + to_string(wanted), decision.reason);
  dependencies_.store.start(wanted, decision.reason);
  if (decision.need < needs.now) return;  // the wait for it is reported
  background_ = wanted;
  report(Progress::Kind::kCompileBegin, wanted, false, 0);
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
