// Costs and faults of the simulated machine. May use: base, compile, kv.
#include "sim/machine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "sim/machine_parts.h"

namespace ahead::sim {

namespace {

/// A task that frees programs; compiles count from 1.
constexpr std::size_t kFree = 0;

}  // namespace

Machine::Machine(const Scenario& scenario, Observer& observer)
    : scenario_(scenario),
      observer_(observer),
      random_(scenario.seed ^ 0x5DEECE66DU),
      held_(std::make_shared<Held>()),
      pages_(std::make_unique<Pages>(*this)),
      timeline_({.on_post = [this] { return posted(); },
                 .on_begin = [this](std::size_t task) { return begun(task); },
                 .on_end = [this](std::size_t task) { ended(task); },
                 .on_stuck = [this] { return stuck(); },
                 .on_wait =
                     [this](bool begins) {
                       record(begins ? EventKind::kWaitBegin : EventKind::kWaitEnd);
                     }}),
      helps_(scenario.seed ^ 0x2545F491U),
      store_(std::make_unique<compile::ProgramStore>(
          compile::ProgramStore::Options{
              .backend = std::make_shared<Backend>(*this), .device = kDevice, .helper = &helper_},
          timeline_, timeline_)) {}

Machine::~Machine() = default;

kv::PageProvider& Machine::pages() { return *pages_; }
std::size_t Machine::held_regions() const { return pages_->fake.held_regions(); }

void Machine::begin_request(std::stop_source source) {
  stop_ = std::move(source);
  fatal_ = false;
  space_refused_ = false;
  timeline_.clear_alarm();
  for (const Fault& fault : scenario_.faults) {
    if (fault.kind != FaultKind::kStopAtTime || fired_.count(fault.kind) > 0) continue;
    timeline_.set_alarm(fault.after, [this] {
      fired_.insert(FaultKind::kStopAtTime);
      stop();
    });
  }
}

void Machine::stop() {
  if (!stop_ || stop_->stop_requested()) return;
  stop_->request_stop();
  record(EventKind::kStop);
}

void Machine::record(EventKind kind, std::int64_t a, std::int64_t b, std::int64_t c) {
  events_.push_back({.at = timeline_.now(), .kind = kind, .a = a, .b = b, .c = c});
  if (fires(FaultKind::kStopAtEvent, static_cast<std::int64_t>(events_.size()))) stop();
  const Event event{.at = timeline_.now(), .kind = kind, .a = a, .b = b, .c = c};
  observer_.on_event(event);
}

void Machine::rung_filled() {
  if (!timeline_.endless() || current_ == 0) return;
  const auto nth = static_cast<std::int64_t>(current_);
  if (const Fault* const fault = fires(FaultKind::kCompileRaces, nth)) {
    timeline_.end_running(timeline_.now() + fault->after);
    timeline_.advance(nanoseconds(0));
  }
}

void Machine::shut_down() {
  stop_.reset();
  timeline_.clear_alarm();
  if (scenario_.abandon) timeline_.drop();
  while (helper_.run_one()) continue;  // too late to help
  store_.reset();
  timeline_.drain();
  timeline_.drop();
}

std::set<std::int64_t> Machine::live_rungs() const {
  std::set<std::int64_t> rungs;
  for (const auto& [artifact, rung] : held_->rungs) rungs.insert(rung);
  return rungs;
}

std::size_t Machine::compiles_pending() const {
  return static_cast<std::size_t>(
      std::count_if(compiles_.begin(), compiles_.end(),
                    [](const SimulatedCompile& compile) { return !compile.end; }));
}

/// The store logs a compile, then posts it; what it posts otherwise frees programs.
std::size_t Machine::posted() {
  const auto log = store_->log();
  if (log.size() == compiles_.size()) {
    ++frees_pending_;
    return kFree;
  }
  compiles_.push_back({.shape = log.back().shape, .posted = timeline_.now()});
  record(EventKind::kPosted, static_cast<std::int64_t>(compiles_.size()), log.back().shape.tokens,
         log.back().shape.rung);
  return compiles_.size();
}

std::optional<nanoseconds> Machine::begun(std::size_t task) {
  current_ = task;
  if (task == kFree) return jittered(scenario_.cost.free);
  SimulatedCompile& compile = compiles_.at(task - 1);
  compile.begin = timeline_.now();
  const auto nth = static_cast<std::int64_t>(task);
  record(EventKind::kCompileBegin, nth, compile.shape.tokens, compile.shape.rung);
  for (const Fault& fault : scenario_.faults) {
    // These end where the world says so.
    if (fault.nth == nth && fault.kind == FaultKind::kCompileRaces) return std::nullopt;
    if (fires(FaultKind::kCompileHangs, nth)) return std::nullopt;
  }
  nanoseconds cost = scenario_.cost.compile + scenario_.cost.compile_row * compile.shape.rung;
  cost *= 1 + 3 * compile.shape.tier;  // what steps faster takes longer to make
  if (bodies_.emplace(compile.shape.batch, compile.shape.tokens).second) {
    cost += scenario_.cost.compile_body;
  }
  if (fires(FaultKind::kCompileSlow, nth)) cost *= 10;
  return jittered(cost);
}

void Machine::ended(std::size_t task) {
  current_ = 0;
  if (task == kFree) {
    --frees_pending_;
    return record(EventKind::kFreed);
  }
  SimulatedCompile& compile = compiles_.at(task - 1);
  compile.end = timeline_.now();
  record(EventKind::kCompileEnd, static_cast<std::int64_t>(task), compile.shape.tokens,
         compile.shape.rung);
}

bool Machine::stuck() {
  if (!timeline_.endless() || !stop_) return false;
  if (stop_->stop_requested()) {  // nobody should wait here any more: the wait's end tells
    timeline_.end_running(timeline_.now() + nanoseconds(1));
    return true;
  }
  const auto nth = static_cast<std::int64_t>(current_);
  for (const Fault& fault : scenario_.faults) {
    if (fault.nth != nth) continue;
    if (fault.kind == FaultKind::kCompileRaces) {
      timeline_.end_running(timeline_.now() + nanoseconds(1));
      return true;
    }
    if (fault.kind == FaultKind::kCompileHangs) {
      timeline_.set_alarm(timeline_.now() + fault.after, [this] { stop(); });
      return true;
    }
  }
  return false;
}

void Machine::call(const DeviceCall& call, bool first_use) {
  const auto nth = static_cast<std::int64_t>(call.artifact);
  const Fault* const at_first = first_use ? fires(FaultKind::kDeviceFailsAtFirstUse, nth) : nullptr;
  if (timeline_.in_task()) {  // a warm-up
    if (at_first) throw Error(ErrorKind::kDevice, cause(*at_first));
    return;
  }
  observer_.on_call(call);
  record(EventKind::kCall, nth, call.shape.rung, call.shape.tokens);
  nanoseconds cost = scenario_.cost.call;
  if (call.of_rung()) cost += scenario_.cost.row * (call.shape.rung + call.shape.tokens);
  if (call.shape.tier > 0) cost = cost * 2 / 3;
  if (timeline_.busy()) cost = cost * scenario_.cost.contention / 100;
  timeline_.advance(jittered(cost));
  const Fault* failure = at_first;
  if (call.begins_step()) {
    const Fault* const at_step =
        fires(FaultKind::kDeviceFailsAtStep, static_cast<std::int64_t>(++steps_));
    if (!failure) failure = at_step;
  }
  if (failure) {
    fatal_ = true;
    throw Error(ErrorKind::kDevice, cause(*failure));
  }
}

void Machine::let_help() {
  if (helping_) {
    ++helped_parts_;
    return;
  }
  if (helper_.queued() == 0 || helps_.one_in(4)) return;  // it may come late, or never
  helping_ = true;
  while (helper_.run_one()) continue;
  helping_ = false;
}

void Machine::compile_part() {
  const auto nth = static_cast<std::int64_t>(current_);
  const Fault* failure = fires(FaultKind::kCompileFailsOnce, nth);
  for (const Fault& fault : scenario_.faults) {
    if (fault.kind == FaultKind::kCompileFailsAlways &&
        fault.rung == compiles_.at(current_ - 1).shape.rung) {
      fired_.insert(fault.kind);
      failure = &fault;
    }
  }
  if (failure) throw std::runtime_error(cause(*failure));
}

void Machine::give(std::size_t bytes, bool space) {
  timeline_.advance(jittered(scenario_.cost.allocation));
  record(EventKind::kAllocate, static_cast<std::int64_t>(bytes));
  if (const Fault* const fault = fires(FaultKind::kPagesRefused, ++gifts_)) {
    (space ? space_refused_ : fatal_) = true;
    throw Error(ErrorKind::kOutOfMemory, cause(*fault));
  }
}

const Fault* Machine::fires(FaultKind kind, std::int64_t nth) {
  for (const Fault& fault : scenario_.faults) {
    if (fault.kind != kind || fault.nth != nth) continue;
    fired_.insert(kind);
    return &fault;
  }
  return nullptr;
}

std::string Machine::cause(const Fault& fault) {
  std::string text = "simulated: " + std::string(to_string(fault.kind)) + " (" +
                     std::to_string(fault.rung > 0 ? fault.rung : fault.nth) + ")";
  if (std::find(causes_.begin(), causes_.end(), text) == causes_.end()) causes_.push_back(text);
  return text;
}

nanoseconds Machine::jittered(nanoseconds cost) {
  return cost + cost * random_.between(0, scenario_.cost.jitter) / 100;
}

}  // namespace ahead::sim
