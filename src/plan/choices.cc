// Where to begin, and where to go at a boundary whose successor is late. May use: base.
#include "plan/choices.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/check.h"
#include "plan/phrases.h"

namespace ahead::plan {
namespace {

constexpr double kFirstTokenTie = 1.05;   // first tokens this near count as equally soon
constexpr double kSecondTokenTie = 1.01;  // and second tokens

// A larger rung is taken when that saves so much of what the successor costs, and so many seconds.
constexpr double kRungSaves = 0.05;
constexpr double kRungSavesS = 0.05;

struct Timeline {
  const StartCost* cost = nullptr;
  double first_s = 0;
  double second_s = 0;  ///< without the decode step itself
};

Timeline timeline_of(std::int64_t prompt_tokens, const StartCost& cost) {
  AHEAD_CHECK(cost.start.chunk >= 1, "a chunk is at least one token");
  const std::int64_t chunks = (prompt_tokens + cost.start.chunk - 1) / cost.start.chunk;
  const double read_s = cost.first_chunk_extra_s + static_cast<double>(chunks) * cost.chunk_s;
  const double first_s = cost.prefill_compile.typical_s + read_s;
  // The decode program compiles while the prompt is read.
  const double decode_ready_s = cost.prefill_compile.typical_s + cost.decode_compile.typical_s;
  return {&cost, first_s, std::max(first_s, decode_ready_s)};
}

/// Keeps what is within `tie` of the least, so at least one.
template <typename Key>
void keep_least(std::vector<Timeline>& timelines, double tie, Key key) {
  double least = key(timelines.front());
  for (const Timeline& timeline : timelines) least = std::min(least, key(timeline));
  std::erase_if(timelines, [&](const Timeline& timeline) { return key(timeline) > least * tie; });
}

std::string way_of(const Start& start, bool with_rung) {
  return (start.chunk == 1 ? "through the decode program"
                           : "in chunks of " + std::to_string(start.chunk)) +
         (with_rung ? " on rung " + std::to_string(start.rung) : "");
}

std::string reason_of(std::int64_t prompt_tokens, const Timeline& chosen, const Timeline* next) {
  const bool with_rung = next != nullptr && next->cost->start.rung != chosen.cost->start.rung;
  std::string reason = "a prompt of " + in_tokens(static_cast<double>(prompt_tokens)) + " goes " +
                       way_of(chosen.cost->start, with_rung) + ": first token in " +
                       in_seconds(chosen.first_s);
  if (next == nullptr) return reason;
  const std::string other = way_of(next->cost->start, with_rung);
  if (next->first_s > chosen.first_s * kFirstTokenTie) {
    return reason + " against " + in_seconds(next->first_s) + " " + other;
  }
  return reason + " and the second possible in " + in_seconds(chosen.second_s) + ", against " +
         in_seconds(next->first_s) + " and " + in_seconds(next->second_s) + " " + other;
}

}  // namespace

StartDecision choose_start(std::int64_t prompt_tokens, const std::vector<StartCost>& starts) {
  AHEAD_CHECK(!starts.empty(), "there is a way to start");
  AHEAD_CHECK(prompt_tokens >= 1, "a prompt is at least one token");
  std::vector<Timeline> all;
  all.reserve(starts.size());
  for (const StartCost& cost : starts) all.push_back(timeline_of(prompt_tokens, cost));
  std::vector<Timeline> best = all;
  keep_least(best, kFirstTokenTie, [](const Timeline& timeline) { return timeline.first_s; });
  keep_least(best, kSecondTokenTie, [](const Timeline& timeline) { return timeline.second_s; });
  const Timeline chosen =
      *std::min_element(best.begin(), best.end(), [](const Timeline& a, const Timeline& b) {
        const auto order = [](const StartCost& cost) {
          return std::tuple(cost.decode_extra_s, cost.start.rung, -cost.start.chunk);
        };
        return order(*a.cost) < order(*b.cost);
      });
  // What it is compared with: the next soonest.
  const Timeline* next = nullptr;
  for (const Timeline& timeline : all) {
    if (timeline.cost == chosen.cost) continue;
    if (next == nullptr || timeline.first_s < next->first_s) next = &timeline;
  }
  return {chosen.cost->start, chosen.first_s, reason_of(prompt_tokens, chosen, next)};
}

RungDecision choose_rung(const BoundaryChoice& choice) {
  AHEAD_CHECK(!choice.options.empty(), "a boundary has a successor");
  const BoundaryChoice::Option& successor = choice.options.front();
  const auto wait_of = [](const BoundaryChoice::Option& option) {
    return option.status == Status::kReady ? 0 : option.compile.typical_s;
  };
  // A step on a larger rung is never sooner, whatever two estimates say.
  const auto penalty_of = [&](const BoundaryChoice::Option& option) {
    return std::max(option.token_s - successor.token_s, 0.0) *
           static_cast<double>(std::max<std::int64_t>(successor.tokens, 0));
  };
  const double successor_s = wait_of(successor);
  const std::string name = "rung " + std::to_string(successor.rung);
  if (successor.status == Status::kReady) return {successor.rung, name + " is ready"};
  if (successor.status == Status::kFailed) return {successor.rung, name + " failed"};
  const BoundaryChoice::Option* best = nullptr;
  const auto cost_of = [&](const BoundaryChoice::Option& option) {
    return wait_of(option) + penalty_of(option);
  };
  for (auto option = choice.options.begin() + 1; option != choice.options.end(); ++option) {
    if (option->status == Status::kFailed) continue;
    if (best == nullptr || cost_of(*option) < cost_of(*best)) best = &*option;
  }
  if (best == nullptr) {
    return {successor.rung, name + " takes " + in_seconds(successor_s) + ", and none is behind it"};
  }
  const std::string compared = "waiting " + in_seconds(wait_of(*best)) + " instead of " +
                               in_seconds(successor_s) + ", at " + in_seconds(penalty_of(*best)) +
                               " more over " + in_tokens(static_cast<double>(successor.tokens));
  const double saved_s = successor_s - cost_of(*best);
  if (saved_s >= std::max(kRungSaves * successor_s, kRungSavesS)) {
    return {best->rung, "rung " + std::to_string(best->rung) + " directly saves " +
                            in_seconds(saved_s) + ": " + compared};
  }
  return {successor.rung,
          name + ": rung " + std::to_string(best->rung) + " directly would not pay, " + compared};
}

}  // namespace ahead::plan
