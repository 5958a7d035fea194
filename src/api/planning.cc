// make_plan: every schedule over every partition, and the best of the planned ones over other
// ladders. May use: base, plan, include/ahead.
#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "ahead/planning.h"
#include "api/plan_row.h"
#include "api/wording.h"
#include "base/printable.h"

namespace ahead {
namespace {

using api::PlanCase;

/// A forecast's time goes with their square.
constexpr std::size_t kMostRungs = 256;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kInvalidArgument, what);
}

/// The largest chunk that every partition looked at knows.
std::int64_t largest_chunk(const std::vector<const PartitionProfile*>& partitions) {
  std::int64_t largest = partitions.front()->steps.back().tokens;
  for (const PartitionProfile* partition : partitions) {
    largest = std::min(largest, partition->steps.back().tokens);
  }
  return largest;
}

std::vector<const PartitionProfile*> partitions_of(const PlanRequest& request) {
  std::vector<const PartitionProfile*> out;
  std::vector<std::string> names;
  for (const PartitionProfile& partition : request.profile.partitions) {
    names.push_back(to_string(partition.partition));
    if (!request.partition || partition.partition == *request.partition) out.push_back(&partition);
  }
  if (out.empty()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    refuse("the profile " + in_quotes(request.profile.name) + " knows nothing of partition " +
           to_string(*request.partition) + "; choose " + api::one_of(known));
  }
  return out;
}

PlanCase case_of(const PlanRequest& request,
                 const std::vector<const PartitionProfile*>& partitions) {
  const Profile& profile = request.profile;
  PlanCase out{.ladder = request.ladder.empty() ? profile.ladder : request.ladder,
               .chunks = request.chunks.empty() ? profile.chunks : request.chunks,
               .prompt = request.prompt.value_or(profile.prompt),
               .tokens = request.tokens.value_or(profile.tokens),
               .may_change = !request.partition};
  check_ladder(out.ladder, 0);
  if (out.ladder.size() > kMostRungs) {
    refuse("a ladder of " + std::to_string(out.ladder.size()) + " rungs; a plan takes at most " +
           std::to_string(kMostRungs));
  }
  if (out.prompt < 1 || out.prompt > out.ladder.back()) {
    refuse("a prompt of " + std::to_string(out.prompt) +
           " tokens does not fit the ladder, which ends at " + std::to_string(out.ladder.back()) +
           "; give a larger --ladder or a smaller --prompt");
  }
  if (out.tokens < 1) refuse("the request makes no token; give --tokens from 1");
  for (const auto& [option, given] :
       {std::pair("--token-ms", &request.token_s), std::pair("--compile-s", &request.compile_s)}) {
    for (const auto& [rung, seconds] : *given) {
      if (rung == 0 || std::find(out.ladder.begin(), out.ladder.end(), rung) != out.ladder.end()) {
        continue;
      }
      refuse(std::string(option) + " names " + std::to_string(rung) +
             ", which is no rung of the ladder; name its rungs");
    }
  }
  // More than the last rung holds is that much.
  out.tokens = std::min(out.tokens, out.ladder.back() - out.prompt + 1);
  const std::int64_t most = largest_chunk(partitions);
  for (const std::int64_t chunk : out.chunks) {
    if (chunk >= 1 && chunk <= most) continue;
    refuse("the profile " + in_quotes(profile.name) + " has no chunk of " + std::to_string(chunk) +
           " tokens; give --chunks from 1 to " + std::to_string(most));
  }
  return out;
}

/// Sooner, or as soon and done sooner.
bool is_better(const PlanForecast& a, const PlanForecast& b) {
  constexpr double kTie = 1.05;
  if (a.first_token_s > b.first_token_s * kTie || b.first_token_s > a.first_token_s * kTie) {
    return a.first_token_s < b.first_token_s;
  }
  return a.critical_path_s < b.critical_path_s * 0.99;
}

/// The ladder asked for first, then those that double or quadruple up to the same end, from rungs
/// the profile knows.
std::vector<std::vector<std::int64_t>> ladders_of(const PlanRequest& request,
                                                  const std::vector<std::int64_t>& asked) {
  std::int64_t smallest = asked.front();
  for (const PartitionProfile& partition : request.profile.partitions) {
    smallest = std::max(smallest, partition.steps.front().step.begin()->first);
  }
  std::vector<std::vector<std::int64_t>> ladders = {asked};
  for (const std::int64_t factor : {2, 4}) {
    for (std::int64_t first = smallest; first <= asked.back(); first *= 2) {
      std::vector<std::int64_t> ladder;
      for (std::int64_t rung = first; rung < asked.back(); rung *= factor) ladder.push_back(rung);
      ladder.push_back(asked.back());
      if (std::find(ladders.begin(), ladders.end(), ladder) == ladders.end()) {
        ladders.push_back(ladder);
      }
    }
  }
  return ladders;
}

std::vector<std::int64_t> all_chunks(const PlanCase& asked,
                                     const std::vector<const PartitionProfile*>& partitions) {
  std::set<std::int64_t> chunks(asked.chunks.begin(), asked.chunks.end());
  for (const PartitionProfile* partition : partitions) {
    for (const StepProfile& step : partition->steps) {
      if (step.tokens > 1 && step.tokens <= largest_chunk(partitions)) chunks.insert(step.tokens);
    }
  }
  return {chunks.begin(), chunks.end()};
}

std::string in_seconds(double value) {
  char text[32];
  const int digits = value < 10 ? 2 : 1;
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits);
  return (error == std::errc() ? std::string(text, end) : std::string("-")) + " s";
}

void choose(const PlanRequest& request, const PlanCase& asked,
            const std::vector<const PartitionProfile*>& partitions, PlanReport& report) {
  PlanCase best = asked;
  best.schedule = Schedule::kPlanned;
  best.chunks = all_chunks(asked, partitions);
  bool first = true;
  for (const auto& ladder : ladders_of(request, asked.ladder)) {
    for (const PartitionProfile* partition : partitions) {
      PlanCase candidate = best;
      candidate.ladder = ladder;
      candidate.partition = partition;
      PlanForecast row = api::forecast_row(request, candidate);
      if (!first && !is_better(row, report.choice)) continue;
      first = false;
      report.choice = std::move(row);
    }
  }
  report.choice_chunks = best.chunks;
  // Compared with the first of those asked for: unless a schedule is named, everything up front.
  const PlanForecast& other = report.forecasts.front();
  const PlanForecast& choice = report.choice;
  report.choice_reason =
      "first token in " + in_seconds(choice.first_token_s) + " and done in " +
      in_seconds(choice.critical_path_s) + ", " + in_seconds(choice.boundary_wait_s) +
      " of it waiting at boundaries; " + std::string(to_string(other.axes.schedule)) + " " +
      to_string(other.axes.partition) + " takes " + in_seconds(other.first_token_s) + " and " +
      in_seconds(other.critical_path_s) + ", " + in_seconds(other.boundary_wait_s) + " waiting";
}

std::vector<std::string> notes_of(const PlanRequest& request, const PlanReport& report) {
  std::vector<std::string> notes = request.profile.notes;
  CostSource least = CostSource::kGiven;
  for (const PlanForecast& row : report.forecasts) {
    for (const PlanRung& rung : row.rungs) least = std::max(least, rung.source);
  }
  if (least == CostSource::kExtrapolated || least == CostSource::kInterpolated) {
    notes.push_back(
        "some rungs or chunks stand between or beyond those of the profile: their costs are " +
        std::string(to_string(least)));
  }
  return notes;
}

}  // namespace

PlanReport make_plan(const PlanRequest& request) {
  const std::vector<const PartitionProfile*> partitions = partitions_of(request);
  PlanCase plan_case = case_of(request, partitions);
  PlanReport report{.profile = request.profile.name,
                    .ladder = plan_case.ladder,
                    .prompt = plan_case.prompt,
                    .tokens = plan_case.tokens};
  for (const PartitionProfile* partition : partitions) {
    for (const Schedule schedule : schedules()) {
      if (request.schedule && schedule != *request.schedule) continue;
      plan_case.partition = partition;
      plan_case.schedule = schedule;
      report.forecasts.push_back(api::forecast_row(request, plan_case));
    }
  }
  // In detail: the best of those asked for, and of equals the planned one.
  for (std::size_t index = 1; index < report.forecasts.size(); ++index) {
    const PlanForecast& row = report.forecasts[index];
    const PlanForecast& shown = report.forecasts[report.shown];
    const bool equal = !is_better(row, shown) && !is_better(shown, row);
    const bool wins_tie = equal && row.axes.schedule == Schedule::kPlanned &&
                          shown.axes.schedule != Schedule::kPlanned;
    if (is_better(row, shown) || wins_tie) report.shown = index;
  }
  choose(request, plan_case, partitions, report);
  report.notes = notes_of(request, report);
  return report;
}

}  // namespace ahead
