// Estimates for programs. May use: base, compile, plan.
#include "runtime/prospects.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace ahead::runtime {

using plan::Candidate;
using plan::Estimate;
using plan::Need;

graph::ProgramShape shape_of(const plan::Need& need) {
  return {.batch = need.batch, .tokens = need.tokens, .rung = need.rung, .tier = need.tier};
}

plan::Need need_of(const graph::ProgramShape& shape) {
  return {.tokens = shape.tokens, .rung = shape.rung, .batch = shape.batch, .tier = shape.tier};
}

plan::GraphSize size_of(const compile::MissingParts& missing) {
  return {.parts = missing.parts,
          .operations = missing.operations,
          .weight_bytes = missing.weight_bytes};
}

const std::string& Prospects::form_of(std::int64_t tier) const {
  return options_.forms.at(static_cast<std::size_t>(tier)).name;
}

Estimate Prospects::step(const Need& need) const {
  const std::int64_t tier = need.tokens == 1 ? need.tier : 0;
  const plan::StepSize size{.weight_bytes = options_.weight_bytes,
                            .cache_bytes = options_.cache_bytes(need.rung) * need.batch,
                            .tokens = need.tokens * need.batch};
  Estimate known = this_request_.step({form_of(tier), need}, size);
  if (known.source != plan::Source::kGuess) return known;
  if (tier == 0) return costs_.step({form_of(tier), need}, size);
  // What the form before it takes, and by how much this one is expected to be better.
  Need before = need;
  before.tier = tier - 1;
  known = step(before);
  if (known.source == plan::Source::kGuess) return known;
  known.typical_s *= options_.forms.at(static_cast<std::size_t>(tier)).expected;
  known.source = plan::Source::kScaled;
  return known;
}

Estimate Prospects::token(const Need& need) const {
  Estimate estimate = step(need);
  estimate.typical_s /= static_cast<double>(need.tokens);
  estimate.late_s /= static_cast<double>(need.tokens);
  return estimate;
}

Estimate Prospects::compile(const Need& need, const std::optional<Need>& before) const {
  return candidate(need, before).compile;
}

Candidate Prospects::candidate(const Need& need, const std::optional<Need>& before) const {
  const graph::ProgramShape shape = shape_of(need);
  Candidate candidate{.need = need, .status = store_.state(shape)};
  if (candidate.status == plan::Status::kReady) return candidate;
  if (candidate.status == plan::Status::kFailed) return candidate;
  const compile::MissingParts missing =
      store_.missing(shape, before ? std::optional(shape_of(*before)) : std::nullopt);
  candidate.compile = costs_.compile({form_of(need.tier), missing.kinds, need}, size_of(missing));
  candidate.bytes = missing.weight_bytes;
  return candidate;
}

namespace {

/// How soon a program can be had: by the time it is needed, next, or at all.
enum class Soon : std::uint8_t { kInTime, kUnderWay, kLate };

}  // namespace

std::int64_t Prospects::chunk_for(const Need& need) const {
  std::int64_t chosen = need.tokens;
  auto best = std::pair(Soon::kLate, std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> chunks = {need.tokens};  // of equals, the one so far
  for (const std::int64_t size : options_.chunks) {
    chunks.push_back(plan::chunk_on(need.rung, size));
  }
  const bool failed = store_.state(shape_of(need)) == plan::Status::kFailed;
  if (need.tokens == 1 && !failed) return need.tokens;  // weighed against what is there already
  for (const std::int64_t chunk : chunks) {
    const Need way{.tokens = chunk, .rung = need.rung};
    const plan::Status status = store_.state(shape_of(way));
    if (status == plan::Status::kFailed) continue;
    if (status == plan::Status::kAbsent && chunk != need.tokens && !failed) continue;
    const Soon soon = status == plan::Status::kReady       ? Soon::kInTime
                      : status == plan::Status::kCompiling ? Soon::kUnderWay
                                                           : Soon::kLate;
    const auto rank =
        std::pair(soon, soon == Soon::kLate ? compile(way).typical_s : token(way).typical_s);
    if (rank < best) {
      best = rank;
      chosen = chunk;
    }
  }
  return chosen;
}

plan::BoundaryChoice Prospects::boundary(const BoundaryQuery& query) const {
  plan::BoundaryChoice choice;
  for (const std::int64_t rung : query.rungs) {
    Need need{.tokens = 1, .rung = rung, .tier = query.tier};
    need.tier = tier_for({.need = need, .most = query.tier});
    const Candidate candidate = this->candidate(need);
    choice.options.push_back({.rung = rung,
                              .status = candidate.status,
                              .compile = candidate.compile,
                              .token_s = step(need).typical_s,
                              .tokens = std::min(query.most, rung) - query.live});
  }
  return choice;
}

std::int64_t Prospects::tier_for(const TierQuery& query) const {
  Need need = query.need;
  // Of those that can be had equally soon, the fastest; of equally fast ones the highest.
  std::int64_t chosen = 0;
  auto best = std::pair(Soon::kLate, std::numeric_limits<double>::infinity());
  for (std::int64_t tier = query.most; tier >= 0; --tier) {
    need.tier = tier;
    const plan::Status status = store_.state(shape_of(need));
    if (status == plan::Status::kFailed) continue;
    const Estimate takes = compile(need);
    const bool in_time = status == plan::Status::kReady || takes.late_s < query.first_use_s;
    const Soon soon = in_time                              ? Soon::kInTime
                      : status == plan::Status::kCompiling ? Soon::kUnderWay
                                                           : Soon::kLate;
    const auto rank = std::pair(soon, soon == Soon::kLate ? takes.typical_s : step(need).typical_s);
    if (rank < best) {
      best = rank;
      chosen = tier;
    }
  }
  return chosen;
}

plan::PlannerState Prospects::state(const plan::Needs& needs, const Standing& standing) const {
  plan::PlannerState state{.now = needs.now, .tokens_done = standing.live};
  const Need first = needs.programs.front();
  const double read_s =
      standing.reading ? token({.tokens = standing.chunk, .rung = first.rung}).typical_s : 0;
  Need decoding = first;
  if (standing.reading) {
    decoding = {.tokens = 1, .rung = first.rung, .batch = standing.batch, .tier = standing.tier};
  }
  const double decode_s = step(decoding).typical_s;
  state.token_s = standing.reading ? read_s : decode_s;
  state.step_s = standing.reading ? read_s * static_cast<double>(standing.chunk) : decode_s;
  // One that the line already has is looked at once, and what nobody looks at yet costs nothing.
  const std::size_t seen = std::min(needs.programs.size(), needs.now + 2);
  for (std::size_t index = 0; index < std::min(seen, std::max(needs.now, needs.reachable));
       ++index) {
    Candidate candidate = this->candidate(needs.programs[index]);
    const plan::FirstUse& use = needs.first_use[index];
    candidate.first_use_s = index < needs.now ? 0
                                              : static_cast<double>(use.prompt_tokens) * read_s +
                                                    static_cast<double>(use.steps) * decode_s;
    state.line.push_back(candidate);
  }
  for (const Need& better : upgrade_needs(needs, standing)) {
    state.upgrades.push_back(upgrade(better, needs, standing));
  }
  if (const auto compiling = store_.compiling()) {
    const Need under_way = need_of(*compiling);
    state.busy_s = compile(under_way).typical_s;
    state.other_compiling = std::find(needs.programs.begin(), needs.programs.end(), under_way) ==
                                needs.programs.end() &&
                            std::none_of(state.upgrades.begin(), state.upgrades.end(),
                                         [&](const plan::Upgrade& upgrade) {
                                           return upgrade.program.need == under_way;
                                         });
  }
  if (options_.bytes_limit > 0) {
    state.bytes_free = options_.bytes_limit - store_.weight_bytes();
  }
  return state;
}

std::vector<Need> Prospects::upgrade_needs(const plan::Needs& needs,
                                           const Standing& standing) const {
  std::vector<Need> better;
  const Need& now = needs.programs.front();
  if (standing.reading) {
    for (const std::int64_t chunk : options_.chunks) {
      const std::int64_t tokens = plan::chunk_on(now.rung, chunk);
      if (tokens > now.tokens) better.push_back({.tokens = tokens, .rung = now.rung});
    }
    return better;
  }
  // The programs of a step share a workspace: the sequences of a batch would have to change form
  // together, also where they come to rungs of which only one form is there.
  if (standing.batch > 1) return better;
  for (auto tier = now.tier + 1; tier < static_cast<std::int64_t>(options_.forms.size()); ++tier) {
    better.push_back({.tokens = 1, .rung = now.rung, .batch = now.batch, .tier = tier});
  }
  return better;
}

plan::Upgrade Prospects::upgrade(const Need& better, const plan::Needs& needs,
                                 const Standing& standing) const {
  const Need& now = needs.programs.front();
  if (!standing.reading) {
    return {.program = candidate(better),
            .token = token(better),
            .token_now = token(now),
            .tokens_left = std::min(standing.most, standing.last_rung) - standing.live};
  }
  // A chunk that a prompt does not fill takes as long as one that it fills, and none goes beyond
  // the rung or into the next prompt.
  std::int64_t left = 0;
  for (const std::int64_t prompt : standing.left_on_rung) left += prompt;
  const auto token_of = [&](const Need& need) {
    std::int64_t steps = 0;
    for (const std::int64_t prompt : standing.left_on_rung) {
      steps += (prompt + need.tokens - 1) / need.tokens;
    }
    Estimate estimate = step(need);
    const double share =
        static_cast<double>(steps) / static_cast<double>(std::max(left, std::int64_t{1}));
    estimate.typical_s *= share;
    estimate.late_s *= share;
    return estimate;
  };
  return {.program = candidate(better),
          .token = token_of(better),
          .token_now = token_of(now),
          .tokens_left = left};
}

std::vector<plan::StartCost> Prospects::starts(const StartQuery& query) const {
  std::vector<plan::StartCost> starts;
  // The rung on which a prompt of that length ends.
  const std::int64_t target = plan::rung_above(query.ladder, query.prompt_tokens - 1);
  std::vector<std::int64_t> chunks = options_.chunks;
  if (query.batch == 1) chunks.push_back(1);
  std::sort(chunks.begin(), chunks.end());
  const std::int64_t largest = plan::rung_above(query.ladder, query.least_prompt_tokens - 1);
  for (const std::int64_t rung : query.ladder) {
    if (rung > largest) break;
    std::optional<std::int64_t> before;
    for (const std::int64_t size : chunks) {
      const std::int64_t chunk = plan::chunk_on(rung, size);
      if (before == chunk) continue;
      before = chunk;
      const Need prefill{.tokens = chunk, .rung = rung};
      if (store_.state(shape_of(prefill)) == plan::Status::kFailed) continue;
      const Need decode{.tokens = 1,
                        .rung = plan::rung_above(query.ladder, query.prompt_tokens),
                        .batch = query.batch};
      plan::StartCost cost{.start = {.rung = rung, .chunk = chunk},
                           .prefill_compile = compile(prefill),
                           .chunk_s = step(prefill).typical_s};
      if (!(prefill == decode)) cost.decode_compile = compile(decode, prefill);
      // The rungs that the prompt passes through compile behind the reading of those before them.
      double behind_s = static_cast<double>(std::min(rung, query.prompt_tokens)) * cost.chunk_s /
                        static_cast<double>(chunk);
      for (const std::int64_t later : query.ladder) {
        if (later <= rung || later > target) continue;
        const double takes_s = compile(Need{.tokens = chunk, .rung = later}, prefill).typical_s;
        cost.first_chunk_extra_s += std::max(0.0, takes_s - behind_s);
        behind_s = static_cast<double>(later) / 2 * cost.chunk_s / static_cast<double>(chunk);
      }
      starts.push_back(cost);
    }
  }
  return starts;
}

}  // namespace ahead::runtime
