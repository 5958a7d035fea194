// Where requests begin, and the rules of how they and worlds end: accounts, errors, leaks. May use:
// base, runtime.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/invariants.h"

namespace ahead::sim {
namespace {

/// Sums of a few thousand doubles of seconds are compared.
bool equal(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); }

}  // namespace

void Invariants::begin_request(const RequestScenario& request, std::stop_token stop) {
  rows_.clear();
  most_steps_ = 0;
  for (std::size_t row = 0; row < request.prompts.size(); ++row) {
    rows_.emplace_back(request.prompts[row],
                       SequenceModel::Limits{.last_rung = scenario_.axes.ladder.back(),
                                             .max_new_tokens = request.max_new_tokens,
                                             .ends_at = request.ends_at[row],
                                             .window = scenario_.window});
    most_steps_ += rows_.back().prompt() + rows_.back().expected();
  }
  stop_ = std::move(stop);
  begin_ = accounted_ = now();
  waited_before_ = machine_->timeline().waited();
  caller_ = nanoseconds(0);
  first_token_.reset();
  tokens_by_rung_.clear();
  compiles_before_ = machine_->compiles().size();
  steps_ = 0;
  steps_unfreed_ = 0;
  boundaries_ = 0;
  step_ = {};
}

void Invariants::end_request(const RunResult& result, const std::optional<std::string>& thrown) {
  machine_->record(EventKind::kEnd, result.tokens.generated);
  if (violation_) return;
  check_ends(result, thrown);
  check_accounts(result, thrown.has_value() || !result.error.empty());
  if (!thrown) check_compiles(result);
  if (!thrown) check_boundaries(result);
  check_stop(result);
  require(machine_->held_regions() == 0, rule::kLeak, machine_->held_regions(),
          " regions of memory are held after the request");
}

void Invariants::end() {
  if (violation_) return;
  require(machine_->live_artifacts() == 0, rule::kLeak, machine_->live_artifacts(),
          " artifacts are held after the store is gone");
  require(machine_->timeline().queued() == 0, rule::kLeak, "a task is left");
}

void Invariants::check_ends(const RunResult& result, const std::optional<std::string>& thrown) {
  const bool stopped = stop_.stop_requested();
  const std::string& error = thrown ? *thrown : result.error;
  const bool failed = thrown || !result.error.empty();
  if (thrown) {
    require(!first_token_, rule::kEnd, "it threw after the first token: ", error);
  }
  if (failed) check_error(error);
  require(!machine_->fatal() || failed, rule::kEnd,
          "a fault that no request survives left no error");
  require(!machine_->space_refused() || !result.kv_fallback.empty() || failed, rule::kEnd,
          "refused address space left no word");
  if (thrown) return;
  require(first_token_ || !failed, rule::kEnd, "an error before the first token was not thrown");
  require(result.rows.size() == rows_.size(), rule::kEnd, result.rows.size(), " results of ",
          rows_.size(), " sequences");
  if (violation_) return;
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const SequenceModel& row = rows_[number];
    const RowResult& row_result = result.rows[number];
    require(row_result.generated == row.generated(), rule::kTokens, "sequence ", number,
            " tells of ", row_result.generated, " tokens and gave out ", row.generated());
    FinishReason expected = failed ? FinishReason::kError : FinishReason::kCancelled;
    if (row.end()) expected = *row.end();
    // Whoever stops it there may be told either.
    const bool either = stopped && row.end() == FinishReason::kLength &&
                        row_result.finish_reason == FinishReason::kCancelled;
    require(row_result.finish_reason == expected || either, rule::kEnd, "sequence ", number,
            " ended as '", static_cast<int>(row_result.finish_reason), "' instead of '",
            static_cast<int>(expected), "'");
    require(row.end() || failed || stopped, rule::kEnd, "sequence ", number, " ended after ",
            row.generated(), " tokens of ", row.expected());
  }
}

/// Every error that there is was caused by a fault, and names it.
void Invariants::check_error(const std::string& text) {
  const auto& causes = machine_->causes();
  require(std::any_of(causes.begin(), causes.end(),
                      [&](const std::string& cause) { return text.find(cause) != text.npos; }),
          rule::kError, "no fault is the cause of: ", text);
  // What works faster is never the only way.
  require(text.find(" tier ") == text.npos, rule::kError,
          "a faster form that failed ended the request: ", text);
}

void Invariants::check_accounts(const RunResult& result, bool failed) {
  const auto& time = result.time_s;
  const double waited = to_seconds(machine_->timeline().waited() - waited_before_);
  require(equal(time.foreground_compile + time.boundary_wait, waited), rule::kAccounts,
          "it waited ", waited, " s, accounted for are ", time.foreground_compile, " s and ",
          time.boundary_wait, " s");
  const double path =
      time.foreground_compile + time.prefill + time.decode + time.boundary_wait + time.migration;
  const double gap = to_seconds(now() - begin_) - path - time.kv_allocation;
  const double known = to_seconds(caller_);
  // A step that failed, or that was left between its calls when it was told to stop, is in none.
  const bool cut_short = failed || stop_.stop_requested();
  const double most = known + (cut_short ? to_seconds(now() - accounted_) : 0);
  require(gap >= known - 1e-9 && gap <= most + 1e-9, rule::kAccounts, gap,
          " s are in no account, of which ", known, " s to ", most, " s should be");
  if (first_token_) {
    require(equal(time.ttft, to_seconds(*first_token_ - begin_)), rule::kAccounts,
            "time to the first token is ", time.ttft, " s instead of ",
            to_seconds(*first_token_ - begin_));
  }
  for (const auto& [rung, count] : tokens_by_rung_) {
    const auto found = result.tokens.by_rung.find(rung);
    const std::int64_t told = found == result.tokens.by_rung.end() ? 0 : found->second.count;
    require(told == count, rule::kAccounts, told, " tokens are accounted to rung ", rung,
            " instead of ", count);
  }
}

/// The compiles that the result tells of are those that were.
void Invariants::check_compiles(const RunResult& result) {
  require(equal(result.time_s.critical_path,
                result.time_s.foreground_compile + result.time_s.prefill + result.time_s.decode +
                    result.time_s.boundary_wait + result.time_s.migration),
          rule::kAccounts, "the critical path is not the sum of its parts");
  std::size_t index = 0;
  std::map<graph::ProgramShape, double> took;
  for (const SimulatedCompile& compile : machine_->compiles()) {
    const TimePoint end = compile.end.value_or(now());
    if (end < begin_) continue;
    require(index < result.compiles.size(), rule::kAccounts, "a compile of rung ",
            compile.shape.rung, " is not told of");
    if (violation_) return;
    const CompileRecord& record = result.compiles[index++];
    require(record.rung == compile.shape.rung && record.part == compile.shape.phase(),
            rule::kAccounts, "a compile of ", record.part, "@", record.rung,
            " is told of instead of one of ", compile.shape.phase(), "@", compile.shape.rung);
    const double begin_s = to_seconds(compile.begin.value_or(compile.posted) - begin_);
    // Here a task really runs when its end has come; until then the log knows when it was posted.
    const bool begin_known = !compile.end || equal(record.begin_s, begin_s);
    require(begin_known && equal(record.end_s, to_seconds(end - begin_)), rule::kAccounts,
            "a compile from ", begin_s, " s to ", to_seconds(end - begin_),
            " s is told of as from ", record.begin_s, " s to ", record.end_s, " s");
    // A wait may begin while the compile is queued behind the freeing of programs.
    took[compile.shape] += to_seconds(end - compile.posted);
    require(record.waited_s <= took[compile.shape] + 1e-9, rule::kAccounts, "it waited ",
            record.waited_s, " s for a compile that took ", took[compile.shape], " s");
  }
  require(index == result.compiles.size(), rule::kAccounts, result.compiles.size(),
          " compiles are told of, there were ", index);
  double waited_s = 0;
  for (const CompileRecord& record : result.compiles) {
    waited_s += record.waited_s;
    require(record.foreground == (record.waited_s > 0), rule::kAccounts, "a compile of rung ",
            record.rung, " that was waited for ", record.waited_s, " s is told of as ",
            record.foreground ? "in the foreground" : "hidden");
  }
  require(equal(waited_s, result.time_s.foreground_compile + result.time_s.boundary_wait),
          rule::kAccounts, "compiles were waited for ", waited_s, " s, accounted for are ",
          result.time_s.foreground_compile + result.time_s.boundary_wait, " s");
}

/// Every move that was told of is in the result, with its wait.
void Invariants::check_boundaries(const RunResult& result) {
  require(result.boundaries.size() == boundaries_, rule::kAccounts, result.boundaries.size(),
          " boundaries are told of, there were ", boundaries_);
  double waited_s = 0;
  for (const BoundaryRecord& boundary : result.boundaries) {
    waited_s += boundary.wait_s;
    require(!boundary.ready || boundary.wait_s == 0, rule::kAccounts, "the move to rung ",
            boundary.to, " waited ", boundary.wait_s, " s for a program that was ready");
  }
  // Before the first token a wait is foreground compile, and one that nothing came of moves nobody.
  const bool cut_short = stop_.stop_requested() || !result.error.empty();
  require(cut_short || waited_s >= result.time_s.boundary_wait - 1e-9, rule::kAccounts,
          "moves waited ", waited_s, " s, accounted for are ", result.time_s.boundary_wait, " s");
}

void Invariants::check_stop(const RunResult& /*result*/) {
  if (!stop_.stop_requested()) return;
  require(machine_->compiles().size() <= stopped_.compiles, rule::kStop,
          machine_->compiles().size() - stopped_.compiles,
          " compiles were started after it was told to stop");
}

void Invariants::fail(std::string_view invariant, const std::string& detail) {
  if (violation_) return;
  violation_ = Violation{.invariant = std::string(invariant), .at = now(), .detail = detail};
  machine_->stop();
}

void Invariants::end_if_broken() const {
  if (violation_) throw std::runtime_error("an invariant is broken: " + violation_->detail);
}

bool Invariants::prompting() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const SequenceModel& row) { return row.runs() && row.prompt_left() > 0; });
}

std::int64_t Invariants::smallest_above(std::int64_t rows) const {
  for (const std::int64_t rung : scenario_.axes.ladder) {
    if (rung > rows) return rung;
  }
  return scenario_.axes.ladder.back();
}

}  // namespace ahead::sim
