// One choice a function. May use: base, compile, plan.
#include "runtime/route.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plan/choices.h"

namespace ahead::runtime {

Route::Route(Options options, const Prospects& prospects, Recorder& recorder)
    : options_(std::move(options)),
      prospects_(prospects),
      recorder_(recorder),
      ladder_(options_.ladder),
      chunk_(options_.chunk) {}

bool Route::may_rise(std::int64_t tier) const {
  return planned() && tier + 1 < static_cast<std::int64_t>(options_.forms);
}

void Route::begin(const std::vector<Sequence>& rows) {
  if (!planned()) return;
  Prospects::StartQuery query{.ladder = ladder_,
                              .least_prompt_tokens = rows.front().prompt_left(),
                              .batch = static_cast<std::int64_t>(rows.size())};
  for (const Sequence& row : rows) {
    query.prompt_tokens = std::max(query.prompt_tokens, row.prompt_left());
    query.least_prompt_tokens = std::min(query.least_prompt_tokens, row.prompt_left());
  }
  if (!options_.own_rungs) query.least_prompt_tokens = query.prompt_tokens;
  std::vector<plan::StartCost> starts = prospects_.starts(query);
  if (const auto chunk = options_.first_chunk) {
    std::erase_if(starts, [&](const plan::StartCost& cost) {
      return cost.start.chunk != plan::chunk_on(cost.start.rung, *chunk);
    });
  }
  if (starts.empty()) return;  // every way failed before: the kept error says why
  const plan::StartDecision decision = plan::choose_start(query.prompt_tokens, starts);
  chunk_ = decision.start.chunk;
  std::erase_if(ladder_, [&](std::int64_t rung) { return rung < decision.start.rung; });
  recorder_.decision("begin on rung " + std::to_string(decision.start.rung) + " with chunks of " +
                         std::to_string(chunk_),
                     decision.reason);
}

bool Route::choose_chunk(const plan::Need& need) {
  if (!planned()) return false;
  const std::int64_t chunk = prospects_.chunk_for(need);
  if (chunk == need.tokens) return false;
  recorder_.decision(
      "read on rung " + std::to_string(need.rung) + " in chunks of " + std::to_string(chunk),
      "that can be had sooner than chunks of " + std::to_string(need.tokens));
  chunk_ = chunk;
  return true;
}

void Route::choose_rung(std::int64_t live, std::int64_t most) {
  Prospects::BoundaryQuery query{.live = live, .most = most, .tier = tier_};
  for (const std::int64_t rung : ladder_) {
    if (rung > live) query.rungs.push_back(rung);
  }
  const plan::RungDecision decision = plan::choose_rung(prospects_.boundary(query));
  if (decision.rung == query.rungs.front()) return;
  recorder_.decision("go to rung " + std::to_string(decision.rung), decision.reason);
  std::erase_if(ladder_, [&](std::int64_t rung) { return rung > live && rung < decision.rung; });
}

void Route::choose_tiers(plan::Needs& needs) const {
  if (tier_ == 0) return;
  plan::Need now = needs.programs.front();
  now.tokens = 1;
  now.tier = tier_;
  const double step_s = prospects_.step(now).typical_s;
  for (std::size_t index = 0; index < needs.programs.size(); ++index) {
    plan::Need& need = needs.programs[index];
    if (need.tokens != 1) continue;
    need.tier = tier_;
    if (index > needs.now) continue;  // what is far off has time
    need.tier = prospects_.tier_for(
        {.need = need,
         .most = tier_,
         .first_use_s = static_cast<double>(needs.first_use[index].steps) * step_s});
  }
}

void Route::take_up(const plan::Need& need, const std::string& reason) {
  recorder_.decision("use " + to_string(shape_of(need)), reason);
  if (need.tokens == 1) {
    tier_ = std::max(tier_, need.tier);
  } else {
    chunk_ = need.tokens;
  }
}

}  // namespace ahead::runtime
