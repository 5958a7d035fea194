// The rules of a step. May use: base, compile, runtime.
#include "sim/invariants.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ahead::sim {

using compile::FakeModel;
using compile::FakePart;

Invariants::Invariants(const Scenario& scenario) : scenario_(scenario) {}

void Invariants::on_event(const Event& event) {
  switch (event.kind) {
    case EventKind::kPosted:
      require(machine_->compiles_pending() == 1, rule::kOneCompile, "compile ", event.a,
              " was started while another is under way");
      require(machine_->compiles().size() - compiles_before_ <=
                  4 * rows_.size() * scenario_.axes.ladder.size() + 4,
              rule::kBounded, "compile ", event.a, ": it compiles on and on");
      break;
    case EventKind::kStop:
      stopped_ = {.at = event.at, .steps = steps_, .compiles = machine_->compiles().size()};
      break;
    case EventKind::kWaitEnd:
      require(!stop_.stop_requested() || event.at <= stopped_.at, rule::kStop, "it waited on for ",
              to_seconds(event.at - stopped_.at), " s after it was told to stop");
      accounted_ = event.at;
      break;
    case EventKind::kCompileBegin:
      // What was released is freed before anything is compiled: memory does not hold both.
      if (machine_->frees_pending() == 0) break;
      fail(rule::kResidency, "a compile begins before what was released is freed");
      break;
    default:
      break;
  }
}

// ---- calls of the device
// -------------------------------------------------------------------------

void Invariants::on_call(const DeviceCall& call) {
  end_if_broken();
  if (call.begins_step()) {
    begin_step(call);
  } else {
    require(step_.open, rule::kBoundary, "a part runs outside of a step");
  }
  ++step_.calls;
  if (call.of_rung()) attended(call);
  end_if_broken();
}

void Invariants::begin_step(const DeviceCall& call) {
  step_ = {.prompt = prompting(), .positions = static_cast<std::byte*>(call.inputs.at(1).data)};
  step_.open = true;
  step_.bodies = call.part == FakePart::kJoined ? 1 : 2;
  ++steps_;
  require(steps_ <= most_steps_, rule::kBounded, "step ", steps_, " of a request that takes ",
          most_steps_, " at most");
  require(std::any_of(rows_.begin(), rows_.end(), [](auto& row) { return row.runs(); }),
          rule::kTokens, "a step for no sequence");
  // A step that has begun ends; one may follow where the word came between moving and stepping.
  require(!stop_.stop_requested() || steps_ <= stopped_.steps + 1, rule::kStop,
          steps_ - stopped_.steps, " steps began after it was told to stop");
  if (violation_) return;
  if (step_.prompt) {
    check_prompt_step(call);
  } else {
    check_decode_step(call);
  }
  check_residency();
}

void Invariants::check_prompt_step(const DeviceCall& call) {
  const auto* tokens = static_cast<const std::int32_t*>(call.inputs[0].data);
  const auto* positions = static_cast<const std::int32_t*>(call.inputs[1].data);
  step_.first = positions[0];
  const bool known = std::any_of(rows_.begin(), rows_.end(), [&](const SequenceModel& row) {
    return row.runs() && row.prompt_left() > 0 && row.live() == positions[0] &&
           row.token(row.live()) == tokens[0];
  });
  require(known, rule::kPositions, "a prompt goes on at position ", positions[0], " with token ",
          tokens[0]);
}

void Invariants::check_decode_step(const DeviceCall& call) {
  const auto* tokens = static_cast<const std::int32_t*>(call.inputs[0].data);
  const auto* positions = static_cast<const std::int32_t*>(call.inputs[1].data);
  require(call.inputs[0].shape == Shape{rows_.size(), 1}, rule::kTokens,
          "a step serves every sequence, a token each");
  if (violation_) return;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].runs()) continue;
    const std::int64_t live = rows_[row].live();
    require(positions[row] == live, rule::kPositions, "sequence ", row, " steps at position ",
            positions[row], " and has ", live, " rows");
    require(tokens[row] == rows_[row].token(live), rule::kTokens, "sequence ", row,
            " steps on token ", tokens[row], ", its last is ", rows_[row].token(live));
  }
}

/// The part that reads the cache: of one sequence, or of all.
void Invariants::attended(const DeviceCall& call) {
  const std::int64_t rung = call.shape.rung;
  if (step_.prompt) {
    require(step_.rung == 0 || step_.rung == rung, rule::kBoundary,
            "two rungs in one step of a prompt");
    step_.rung = rung;
    require(rung > step_.first, rule::kRung, "a prompt at ", step_.first, " rows runs on rung ",
            rung);
    if (scenario_.axes.schedule <= Schedule::kOnDemand) {
      require(rung == smallest_above(step_.first), rule::kRung, "a prompt at ", step_.first,
              " rows runs on rung ", rung, " instead of ", smallest_above(step_.first));
    }
    return;
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].runs()) continue;
    const auto* own = step_.positions + row * sizeof(std::int32_t);
    if (call.part == FakePart::kAttend && call.inputs.at(0).data != own) continue;
    check_rung(rows_[row], rung);
    const auto [known, added] = step_.artifacts.try_emplace(row, call.artifact);
    require(added || known->second == call.artifact, rule::kBoundary, "sequence ", row,
            " is served by two programs in one step");
    step_.rungs[row] = rung;
  }
}

void Invariants::check_rung(const SequenceModel& row, std::int64_t rung) {
  require(rung > row.live(), rule::kRung, "a step at ", row.live(), " rows runs on rung ", rung);
  require(rung >= row.capacity, rule::kRung, "a step runs on rung ", rung, " and the cache was at ",
          row.capacity);
  if (scenario_.axes.schedule > Schedule::kOnDemand) return;  // may take a larger one
  std::int64_t wanted = smallest_above(row.live());
  if (scenario_.axes.partition != Partition::kAttention) {  // all are where the longest is
    for (const SequenceModel& other : rows_) {
      if (!other.runs()) continue;
      wanted = std::max({wanted, smallest_above(other.live()), other.capacity});
    }
  }
  require(rung == wanted, rule::kRung, "a step at ", row.live(), " rows runs on rung ", rung,
          " instead of ", wanted);
}

/// The programs in memory, and the artifacts behind them.
void Invariants::check_residency() {
  std::set<std::int64_t> in_use;
  for (const SequenceModel& row : rows_) {
    if (!row.runs()) continue;
    in_use.insert(smallest_above(row.live() + row.prompt_left()));
    if (row.prompt_left() > 0) in_use.insert(smallest_above(row.live()));
    if (row.capacity > row.live()) in_use.insert(row.capacity);
  }
  std::set<std::int64_t> resident;
  for (const graph::ProgramShape& shape : machine_->store().settled()) resident.insert(shape.rung);
  if (!in_use.empty()) {
    const std::int64_t lowest = *in_use.begin();
    const auto counts = [&](std::int64_t rung) {
      return scenario_.axes.schedule != Schedule::kEager || rung <= lowest;
    };
    const auto kept = std::count_if(resident.begin(), resident.end(), counts);
    const auto limit = std::max(scenario_.resident, in_use.size() + 1);
    require(static_cast<std::size_t>(kept) <= limit, rule::kResidency, "programs of ", kept,
            " rungs are in memory, the limit is ", limit);
  }
  if (machine_->frees_pending() > 0) return;
  // What was let go of is freed within some steps in which nothing is compiled.
  constexpr std::int64_t kFreeWithin = 32;
  const bool released = machine_->store().released() > 0;
  steps_unfreed_ = released && !machine_->store().compiling() ? steps_unfreed_ + 1 : 0;
  require(steps_unfreed_ <= kFreeWithin, rule::kResidency, "programs are let go of since ",
          steps_unfreed_, " steps and not freed");
  if (released) return;
  std::set<std::int64_t> wanted = resident;
  if (const auto compiling = machine_->store().compiling()) wanted.insert(compiling->rung);
  for (const std::int64_t rung : machine_->live_rungs()) {
    require(wanted.count(rung) > 0, rule::kResidency, "an artifact of rung ", rung,
            " is in memory and no program needs it");
  }
}

// ---- what the caller sees
// ------------------------------------------------------------------------

runtime::Callbacks Invariants::callbacks() {
  return {.choose = [this](const StepLogits& step) { return choose(step); },
          .accept = [this](std::int64_t row, std::int32_t token) { return accept(row, token); },
          .progress = [this](const Progress& event) { progress(event); }};
}

std::int32_t Invariants::choose(const StepLogits& step) {
  end_if_broken();
  machine_->record(EventKind::kChoose, step.row, step.position, step.rung);
  const auto number = static_cast<std::size_t>(step.row);
  require(number < rows_.size() && rows_[number].runs(), rule::kTokens, "logits of sequence ",
          step.row, ", which does not run");
  end_if_broken();
  SequenceModel& row = rows_[number];
  if (step_.prompt) {
    const std::int64_t rung = step_.rung;
    row.append(std::max<std::int64_t>(step.position + 1 - row.live(), 0));
    row.capacity = std::max(row.capacity, rung);
    require(row.prompt_left() == 0, rule::kPositions, "a token before the end of the prompt");
  } else {
    const std::size_t calls =
        scenario_.cut ? step_.bodies + step_.artifacts.size() * FakeModel::kLayers : 1;
    require(step_.calls == calls && step_.rungs.count(number) > 0, rule::kBoundary, "a step of ",
            step_.calls, " calls instead of ", calls);
    row.append(1);
    row.capacity = step_.rungs[number];
    require(step.rung == row.capacity, rule::kRung, "logits name another rung than the step's");
  }
  require(step.position + 1 == row.live(), rule::kPositions, "logits of position ", step.position,
          " after ", row.live(), " rows");
  require(
      std::equal(step.values.begin(), step.values.end(), row.logits().begin(), row.logits().end()),
      rule::kTokens, "sequence ", step.row, ": the logits at ", step.position,
      " are not the model's");
  end_if_broken();
  if (row.live() == row.capacity) machine_->rung_filled();
  return FakeModel::greedy(step.values);
}

std::optional<FinishReason> Invariants::accept(std::int64_t number, std::int32_t token) {
  end_if_broken();
  if (!first_token_) first_token_ = now();
  machine_->record(EventKind::kToken, number, token);
  SequenceModel& row = rows_.at(static_cast<std::size_t>(number));
  require(row.runs() && row.live() == row.prompt() + row.generated(), rule::kTokens, "sequence ",
          number, " gives out token ", row.generated() + 1, " after ", row.live(), " rows");
  end_if_broken();
  require(token == FakeModel::greedy(row.logits()), rule::kTokens, "sequence ", number,
          " gives out ", token, ", which is not the model's token");
  row.accept(token);
  if (row.generated() > 1) ++tokens_by_rung_[row.capacity];
  const TimePoint begin = now();
  machine_->timeline().advance(scenario_.cost.caller);
  caller_ += now() - begin;
  end_if_broken();
  return row.end() == FinishReason::kStop ? row.end() : std::nullopt;
}

void Invariants::progress(const Progress& event) {
  end_if_broken();
  machine_->record(EventKind::kProgress, static_cast<std::int64_t>(event.kind), event.rung,
                   event.tokens);
  accounted_ = now();
  if (event.kind == Progress::Kind::kPrefill) {
    SequenceModel& row = rows_.at(static_cast<std::size_t>(event.row));
    const auto rows_held = [&] {
      std::int64_t held = 0;
      for (const SequenceModel& other : rows_) held += other.live();
      return held;
    };
    const std::int64_t added = event.tokens - rows_held();
    row.append(std::clamp<std::int64_t>(added, 0, row.prompt_left()));
    require(rows_held() == event.tokens, rule::kPositions, "progress tells of ", event.tokens,
            " rows, the prompts have ", rows_held());
    row.capacity = std::max(row.capacity, event.rung);
    require(row.live() == std::min({event.rung, row.prompt(), step_.first + scenario_.chunk}) ||
                scenario_.axes.schedule > Schedule::kOnDemand,
            rule::kPositions, "a chunk from ", step_.first, " brought the prompt to ", row.live());
  } else if (event.kind == Progress::Kind::kToken) {
    std::int64_t sum = 0;
    for (const SequenceModel& row : rows_) sum += row.generated();
    require(sum == event.tokens, rule::kTokens, "progress tells of ", event.tokens,
            " tokens after ", sum);
  } else if (event.kind == Progress::Kind::kBoundary) {
    ++boundaries_;
    const SequenceModel& row = rows_.at(static_cast<std::size_t>(event.row));
    require(event.tokens == row.live() && event.rung > row.capacity, rule::kPositions, "sequence ",
            event.row, " moves to rung ", event.rung, " at ", event.tokens, " rows, it has ",
            row.live(), " on ", row.capacity);
  }
  end_if_broken();
}

}  // namespace ahead::sim
