// A session's order of things over given costs: see runtime/session.cc. May use: base.
#include "plan/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "plan/choices.h"
#include "plan/forecast_programs.h"
#include "plan/forecast_view.h"
#include "plan/planner.h"

namespace ahead::plan {
namespace {

/// The next event is so many steps away.
constexpr std::int64_t kNoEvent = std::numeric_limits<std::int64_t>::max();

/// The state of one forecast.
class Request {
 public:
  explicit Request(const ForecastInput& input)
      : input_(input), ladder_(input.ladder), programs_(input) {
    AHEAD_CHECK(!input.ladder.empty() && !input.chunks.empty(), "a ladder and a chunk");
    AHEAD_CHECK(input.prompt > 0 && input.prompt <= input.ladder.back(), "a prompt that fits");
    AHEAD_CHECK(input.tokens > 0, "a request has tokens to make");
    at_.chunk = input.chunks.front();
    at_.most = input.prompt + input.tokens - 1;
    for (const std::int64_t rung : input.ladder) out_.rungs.push_back({.rung = rung});
  }

  Forecast run() {
    if (planned()) begin_planned();
    read_prompt();
    decode();
    // What still compiles is let go of.
    double compiled_s = 0;
    out_.compiles = programs_.log();
    for (ForecastCompile& compile : out_.compiles) {
      if (compile.end_s == 0) compile.end_s = std::max(now_s_, compile.begin_s);
      compiled_s += compile.end_s - compile.begin_s - compile.waited_s;
      rung(compile.need.rung).compile_s += compile.end_s - compile.begin_s;
    }
    out_.hidden_compile_s = std::max(0.0, compiled_s);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool planned() const { return input_.schedule == Schedule::kPlanned; }

  ForecastRung& rung(std::int64_t rung) {
    return *std::find_if(out_.rungs.begin(), out_.rungs.end(),
                         [&](const ForecastRung& entry) { return entry.rung == rung; });
  }

  void note(std::string what, std::string reason) {
    out_.decisions.push_back({now_s_, at_.live, std::move(what), std::move(reason)});
  }

  // ---- deciding
  // --------------------------------------------------------------------------------

  void begin_planned() {
    const std::vector<StartCost> starts = starts_of(input_, programs_);
    const StartDecision decision = choose_start(input_.prompt, starts);
    at_.chunk = decision.start.chunk;
    std::erase_if(ladder_, [&](std::int64_t rung) { return rung < decision.start.rung; });
    note("begin on rung " + std::to_string(decision.start.rung) + " in chunks of " +
             std::to_string(at_.chunk),
         decision.reason);
  }

  [[nodiscard]] Needs needs() const {
    Needs needs =
        needs_of({.ladder = ladder_,
                  .sequences = {{.live = at_.live, .prompt = input_.prompt, .most = at_.most}},
                  .chunk = at_.chunk,
                  .least_rung = at_.rung});
    if (planned()) choose_tiers(input_, programs_, at_, needs);
    return needs;
  }

  /// One decision; the steps until the next.
  struct Next {
    Decision decision;
    std::optional<Need> start;
    std::optional<std::int64_t> until_token;
  };
  [[nodiscard]] Next decide_on(const Needs& needs, bool switching) const {
    if (planned()) {
      const Plan plan = plan::plan(state_of(input_, programs_, at_, needs, switching));
      Next next{.decision = plan.decision, .until_token = plan.until_token};
      if (plan.decision.action == Action::kStart) next.start = plan.need;
      return next;
    }
    State state{.schedule = input_.schedule,
                .reachable = needs.reachable,
                .now = needs.now,
                .first_token_out = first_token_out_,
                .switching = switching,
                .other_compiling = programs_.busy_s().has_value()};
    for (const Need& need : needs.programs) {
      state.status.push_back(programs_.status(need));
      if (state.status.back() == Status::kCompiling) state.other_compiling = false;
    }
    Next next{.decision = decide(state)};
    if (next.decision.action == Action::kStart) next.start = needs.programs[next.decision.need];
    return next;
  }

  void start(const Next& next) {
    note("start " + name_of(*next.start), next.decision.reason);
    programs_.start(*next.start, next.decision.reason, now_s_);
  }

  /// At a boundary between steps: starts what should be started. Steps until something may change.
  std::int64_t consult(std::int64_t tokens_a_step) {
    const Next next = decide_on(needs(), false);
    if (next.start) {
      start(next);
    } else if (next.until_token && next.until_token != noted_until_) {
      noted_until_ = next.until_token;
      note("wait until token " + std::to_string(*next.until_token), next.decision.reason);
    }
    if (!next.until_token) return kNoEvent;
    const std::int64_t tokens = std::max<std::int64_t>(*next.until_token - at_.live, 1);
    return (tokens + tokens_a_step - 1) / tokens_a_step;
  }

  /// Waits until all that the next step needs is there; the seconds.
  double settle(bool at_boundary) {
    double waited_s = 0;
    while (true) {
      const Needs needs = this->needs();
      const Next next = decide_on(needs, true);
      if (next.decision.action == Action::kProceed) return waited_s;
      if (next.start) {
        start(next);
        continue;
      }
      const Need awaited = programs_.log().back().need;
      note("wait for " + name_of(awaited), next.decision.reason);
      const double seconds = programs_.wait(now_s_);
      now_s_ += seconds;
      waited_s += seconds;
      (at_boundary ? out_.boundary_wait_s : out_.foreground_compile_s) += seconds;
    }
  }

  // ---- the request
  // -----------------------------------------------------------------------------

  /// Comes to `to`, behind a wait; the cache grows.
  void enter(std::int64_t to, double wanted_s, double waited_s) {
    ForecastRung& entry = rung(to);
    entry.used = true;
    entry.at_token = at_.live;
    entry.begin_s = wanted_s;
    entry.wait_s = at_.rung != 0 ? waited_s : 0;
    if (at_.rung != 0) {
      entry.window_s = wanted_s - window_begin_s_;
      entry.window_tokens = at_.live - window_begin_token_;
      const double seconds = input_.migration_s(to);
      out_.migration_s += seconds;
      programs_.pass(seconds, now_s_ + seconds);
      now_s_ += seconds;
    }
    at_.rung = to;
    open_window();
  }

  /// From now on a successor has time.
  void open_window() {
    window_begin_s_ = now_s_;
    window_begin_token_ = at_.live;
  }

  /// Runs up to `most` steps of `need`, or until something may change.
  void steps(const Need& need, std::int64_t most, std::int64_t tokens, double alone_s) {
    const std::int64_t until = consult(need.tokens);
    const auto beside_s = programs_.busy_beside_steps_s();
    const double step_s = alone_s * (beside_s ? input_.step_factor : 1);
    std::int64_t count = std::min(most, until);
    if (beside_s && step_s > 0) {
      const double steps = std::ceil(*beside_s / step_s);
      if (steps < static_cast<double>(count)) {
        count = std::max<std::int64_t>(static_cast<std::int64_t>(steps), 1);
      }
    }
    const double seconds = static_cast<double>(count) * step_s;
    const std::int64_t made = std::min(count * need.tokens, tokens);
    if (out_.spans.empty() || !(out_.spans.back().need == need) ||
        out_.spans.back().end_s < now_s_ - 1e-9) {
      out_.spans.push_back({.need = need, .begin_s = now_s_, .end_s = now_s_});
    }
    now_s_ += seconds;
    programs_.pass(seconds, now_s_);
    at_.live += made;
    out_.spans.back().end_s = now_s_;
    out_.spans.back().tokens += made;
    if (at_.reading) {
      out_.prefill_s += seconds;
    } else {
      out_.decode_s += seconds;
      rung(need.rung).tokens += made;
      rung(need.rung).decode_s += seconds;
    }
  }

  /// Takes up the best program that is ready; planned schedule.
  void take_up() {
    if (!planned()) return;
    const Needs needs = this->needs();
    for (const Upgrade& upgrade : upgrades_of(input_, programs_, at_, needs.programs.front())) {
      if (upgrade.program.status != Status::kReady) continue;
      const Adoption adoption = adopt(upgrade);
      if (!adoption.adopt) continue;
      if (at_.reading) at_.chunk = upgrade.program.need.tokens;
      if (!at_.reading) at_.tier = upgrade.program.need.tier;
      note("use " + name_of(upgrade.program.need), adoption.reason);
    }
  }

  void read_prompt() {
    while (at_.live < input_.prompt) {
      at_.prompt_left = input_.prompt - at_.live;
      const double wanted_s = now_s_;
      const double waited_s = settle(false);
      const std::int64_t here = needs().programs.front().rung;
      if (here > at_.rung) enter(here, wanted_s, waited_s);
      if (out_.first_rung == 0) {
        out_.first_rung = here;
        out_.first_chunk = at_.chunk;
      }
      while (at_.live < std::min(input_.prompt, here)) {
        take_up();
        const Need need = needs().programs.front();
        const std::int64_t left = std::min(input_.prompt, here) - at_.live;
        const ProgramCosts costs = input_.costs(need);
        const bool own = need.tokens == 1 && costs.read_token_s > 0;
        steps(need, (left + need.tokens - 1) / need.tokens, left,
              own ? costs.read_token_s : costs.step.typical_s);
        at_.prompt_left = input_.prompt - at_.live;
      }
    }
    out_.first_token_s = now_s_;
    first_token_out_ = true;
    at_.reading = false;
    at_.prompt_left = 0;
  }

  void decode() {
    bool moved_in = false;
    while (at_.live < std::min(at_.most, ladder_.back())) {
      const std::int64_t wanted = std::max(rung_above(ladder_, at_.live), at_.rung);
      if (!moved_in || wanted != at_.rung) {
        if (wanted != at_.rung) at_.tier = 0;
        const double wanted_s = now_s_;
        const double waited_s = settle(wanted != at_.rung);
        at_.tier = needs().programs.front().tier;
        if (wanted != at_.rung) {
          enter(wanted, wanted_s, waited_s);
        } else if (!(out_.spans.back().need == needs().programs.front())) {
          open_window();
        }
        moved_in = true;
      }
      take_up();
      const Need need = needs().programs.front();
      const std::int64_t left = std::min(at_.most, wanted) - at_.live;
      steps(need, left, left, input_.costs(need).step.typical_s);
    }
  }

  const ForecastInput& input_;
  std::vector<std::int64_t> ladder_;
  ForecastPrograms programs_;
  Place at_;
  Forecast out_;
  double now_s_ = 0;
  double window_begin_s_ = 0;
  std::int64_t window_begin_token_ = 0;
  bool first_token_out_ = false;
  std::optional<std::int64_t> noted_until_;
};

}  // namespace

std::string name_of(const Need& need) {
  std::string name = (need.tokens == 1 ? "decode@" : "prefill@") + std::to_string(need.rung);
  if (need.tokens > 1) name += " of " + std::to_string(need.tokens);
  if (need.tier != 0) name += " tier " + std::to_string(need.tier);
  return name;
}

Forecast forecast(const ForecastInput& input) { return Request(input).run(); }

}  // namespace ahead::plan
