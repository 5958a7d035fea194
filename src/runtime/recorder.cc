// Sums, averages and timeline of one request. May use: base, compile.
#include "runtime/recorder.h"

#include <algorithm>
#include <utility>

namespace ahead::runtime {
namespace {

/// Decode steps drawn as one span of the timeline.
constexpr std::int64_t kStepsPerSpan = 16;

}  // namespace

Recorder::Recorder(const Clock& clock, RunResult& result)
    : clock_(clock), result_(result), begin_(clock.now()) {}

double Recorder::since_begin(TimePoint time) const { return to_seconds(time - begin_); }

void Recorder::span(std::string_view row, std::string name, TimePoint begin,
                    std::vector<std::pair<std::string, double>> numbers) {
  result_.trace.push_back({.row = std::string(row),
                           .name = std::move(name),
                           .begin_s = since_begin(begin),
                           .end_s = since_begin(now()),
                           .numbers = std::move(numbers)});
}

void Recorder::decision(std::string name, std::string reason) {
  const double at = since_begin(now());
  result_.trace.push_back({.row = "compiler",
                           .name = std::move(name),
                           .begin_s = at,
                           .end_s = at,
                           .notes = {{"reason", std::move(reason)}}});
}

void Recorder::waited(const Wait& wait) {
  flush_steps();
  const double seconds = to_seconds(now() - wait.begin);
  waits_.push_back({wait.shape, now(), seconds});
  (wait.at_boundary ? result_.time_s.boundary_wait : result_.time_s.foreground_compile) += seconds;
  span("device", "wait for " + to_string(wait.shape), wait.begin);
}

void Recorder::prefilled(TimePoint begin, const graph::ProgramShape& shape, std::int64_t tokens) {
  const double seconds = to_seconds(now() - begin);
  result_.time_s.prefill += seconds;
  runs_[shape].push_back(seconds);
  span("device", "prefill@" + std::to_string(shape.rung), begin,
       {{"tokens", static_cast<double>(tokens)}});
}

void Recorder::stepped(TimePoint begin, const graph::ProgramShape& shape,
                       std::span<const std::int64_t> rungs) {
  const double seconds = to_seconds(now() - begin);
  result_.time_s.decode += seconds;
  runs_[shape].push_back(seconds);
  for (const std::int64_t rung : rungs) {
    RungTokens& tokens = result_.tokens.by_rung[rung];
    ++tokens.count;
    tokens.seconds += seconds / static_cast<double>(rungs.size());
  }
  const std::int64_t rung = *std::max_element(rungs.begin(), rungs.end());
  if (steps_ > 0 && rung != steps_rung_) flush_steps();
  if (steps_ == 0) steps_begin_ = begin;
  steps_rung_ = rung;
  steps_end_ = now();
  step_tokens_ += static_cast<std::int64_t>(rungs.size());
  if (++steps_ == kStepsPerSpan) flush_steps();
}

void Recorder::flush_steps() {
  if (steps_ == 0) return;
  result_.trace.push_back({.row = "device",
                           .name = "decode@" + std::to_string(steps_rung_),
                           .begin_s = since_begin(steps_begin_),
                           .end_s = since_begin(steps_end_),
                           .numbers = {{"tokens", static_cast<double>(step_tokens_)}}});
  steps_ = 0;
  step_tokens_ = 0;
}

void Recorder::first_token() {
  result_.time_s.ttft = since_begin(now());
  result_.time_s.ttft_cold = result_.time_s.load + result_.time_s.ttft;
}

void Recorder::boundary(const BoundaryRecord& record, TimePoint begin) {
  flush_steps();
  result_.time_s.migration += record.migration_s;
  span("kv", std::to_string(record.from) + " to " + std::to_string(record.to), begin,
       {{"copied_bytes", static_cast<double>(record.copied_bytes)}});
  result_.boundaries.push_back(record);
}

void Recorder::memory(const Memory& held) {
  const TimePoint time = now();
  if (memory_begin_ < TimePoint(0)) {
    memory_begin_ = time;
  } else {
    const double seconds = to_seconds(time - memory_since_);
    reserved_byte_s_ += seconds * static_cast<double>(memory_.reserved_bytes);
    committed_byte_s_ += seconds * static_cast<double>(memory_.committed_bytes);
    live_byte_s_ += seconds * static_cast<double>(memory_.live_bytes + held.live_bytes) / 2;
  }
  memory_since_ = time;
  memory_ = held;
  auto& peak = result_.memory;
  peak.kv_reserved_peak_bytes = std::max(peak.kv_reserved_peak_bytes, held.reserved_bytes);
  peak.kv_committed_peak_bytes = held.committed_bytes < 0
                                     ? held.committed_bytes
                                     : std::max(peak.kv_committed_peak_bytes, held.committed_bytes);
  TraceEvent sample{.row = "kv",
                    .name = "KV bytes",
                    .begin_s = since_begin(time),
                    .end_s = since_begin(time),
                    .counter = true,
                    .numbers = {{"reserved", static_cast<double>(held.reserved_bytes)}}};
  sample.numbers.emplace_back("live", static_cast<double>(held.live_bytes));
  if (held.committed_bytes >= 0) {
    sample.numbers.emplace_back("committed", static_cast<double>(held.committed_bytes));
  }
  result_.trace.push_back(std::move(sample));
}

void Recorder::close_first_runs() {
  for (auto& [shape, runs] : runs_) {
    if (runs.size() < 2) continue;
    const double first = runs.front();
    const auto middle = runs.begin() + 1 + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
    std::nth_element(runs.begin() + 1, middle, runs.end());
    double& sum =
        shape.tokens == 1 ? result_.time_s.first_runs_decode : result_.time_s.first_runs_prefill;
    sum += std::max(0.0, first - *middle);
  }
  runs_.clear();
}

void Recorder::finish(const std::vector<compile::CompileLog>& log) {
  flush_steps();
  close_first_runs();
  if (memory_begin_ >= TimePoint(0)) {
    memory(memory_);
    const double seconds = to_seconds(memory_since_ - memory_begin_);
    const auto average = [&](double byte_s, std::int64_t last) {
      return seconds > 0 ? static_cast<std::int64_t>(byte_s / seconds) : last;
    };
    result_.memory.kv_reserved_avg_bytes = average(reserved_byte_s_, memory_.reserved_bytes);
    result_.memory.kv_live_avg_bytes = average(live_byte_s_, memory_.live_bytes);
    result_.memory.kv_committed_avg_bytes =
        memory_.committed_bytes < 0 ? memory_.committed_bytes
                                    : average(committed_byte_s_, memory_.committed_bytes);
  }

  double compiled_s = 0;
  double waited_s = 0;
  const TimePoint end = now();
  for (auto at = log.begin(); at != log.end(); ++at) {
    const compile::CompileLog& entry = *at;
    const TimePoint ended = entry.end.value_or(end);
    if (ended < begin_) continue;
    CompileRecord record{.part = std::string(entry.shape.phase()),
                         .rung = entry.shape.rung,
                         .tier = entry.shape.tier,
                         .begin_s = since_begin(entry.begin),
                         .end_s = since_begin(ended),
                         .reason = entry.reason};
    // A program that was let go may be compiled again: a wait was for the last begun before its
    // end.
    const auto again = std::find_if(at + 1, log.end(),
                                    [&](const auto& later) { return later.shape == entry.shape; });
    for (const Waited& wait : waits_) {
      if (wait.shape != entry.shape || wait.end < entry.begin) continue;
      if (again == log.end() || wait.end < again->begin) record.waited_s += wait.seconds;
    }
    record.foreground = record.waited_s > 0;
    compiled_s += to_seconds(ended - std::max(entry.begin, begin_));
    waited_s += record.waited_s;
    result_.trace.push_back({.row = "compiler",
                             .name = to_string(entry.shape) + (entry.failed ? " (failed)" : ""),
                             .begin_s = std::max(record.begin_s, 0.0),
                             .end_s = record.end_s,
                             .notes = {{"reason", entry.reason}}});
    result_.compiles.push_back(std::move(record));
  }
  auto& time = result_.time_s;
  time.hidden_compile = std::max(0.0, compiled_s - waited_s);
  time.critical_path =
      time.foreground_compile + time.prefill + time.decode + time.boundary_wait + time.migration;
}

}  // namespace ahead::runtime
