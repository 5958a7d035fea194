// A simulated machine: a device, a compiler beside it, and memory, with what the scenario makes
// them cost and where it makes them fail. Drives the real program store. May use: base, compile,
// kv.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "compile/fake_backend.h"
#include "compile/program_store.h"
#include "kv/fake_pages.h"
#include "sim/event.h"
#include "sim/random.h"
#include "sim/scenario.h"
#include "sim/timeline.h"

namespace ahead::sim {

/// One call of the device, before it is made.
struct DeviceCall {
  std::size_t artifact = 0;  ///< its number, from 1
  compile::FakePart part = compile::FakePart::kWhole;
  graph::ProgramShape shape;  ///< it was compiled for
  const std::vector<TensorView>& inputs;

  [[nodiscard]] bool begins_step() const {
    return part == compile::FakePart::kWhole || part == compile::FakePart::kRows ||
           part == compile::FakePart::kJoined;
  }
  [[nodiscard]] bool of_rung() const {
    return part == compile::FakePart::kWhole || part == compile::FakePart::kAttend;
  }
};

/// Who looks on.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Must not throw.
  virtual void on_event(const Event& event) = 0;
  /// May throw: then the call is not made.
  virtual void on_call(const DeviceCall& call) = 0;
};

/// One compile, as the machine saw it.
struct SimulatedCompile {
  graph::ProgramShape shape;
  TimePoint posted{0};
  std::optional<TimePoint> begin;
  std::optional<TimePoint> end;
};

class Machine {
 public:
  /// `scenario` and `observer` must outlive it.
  Machine(const Scenario& scenario, Observer& observer);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Whom faults and alarms tell to stop from now on.
  void begin_request(std::stop_source source);
  /// Tells the request to stop.
  void stop();
  void record(EventKind kind, std::int64_t a = 0, std::int64_t b = 0, std::int64_t c = 0);
  /// A step that filled a rung is over: what races it ends.
  void rung_filled();
  /// Ends the store, and what it compiles: ended or dropped, as the scenario says.
  void shut_down();

  [[nodiscard]] compile::ProgramStore& store() { return *store_; }
  [[nodiscard]] kv::PageProvider& pages();
  [[nodiscard]] Timeline& timeline() { return timeline_; }

  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<SimulatedCompile>& compiles() const { return compiles_; }
  [[nodiscard]] std::size_t steps() const { return steps_; }
  [[nodiscard]] std::size_t held_regions() const;
  [[nodiscard]] int live_artifacts() const { return script_->live_artifacts; }
  /// Rungs of the artifacts that somebody holds.
  [[nodiscard]] std::set<std::int64_t> live_rungs() const;
  /// Parts that the helper compiled while somebody waited for their program.
  [[nodiscard]] std::size_t helped_parts() const { return helped_parts_; }
  /// Tasks that free programs and have not run.
  [[nodiscard]] std::size_t frees_pending() const { return frees_pending_; }
  /// Compiles that were posted and have not ended.
  [[nodiscard]] std::size_t compiles_pending() const;

  /// What faults said so far: the text an error must contain.
  [[nodiscard]] const std::vector<std::string>& causes() const { return causes_; }
  [[nodiscard]] const std::set<FaultKind>& fired() const { return fired_; }
  /// A fault struck that the request since begin_request() cannot have survived.
  [[nodiscard]] bool fatal() const { return fatal_; }
  /// Address space was refused to that request.
  [[nodiscard]] bool space_refused() const { return space_refused_; }

 private:
  class Backend;
  class Artifact;
  class Request;
  class Pages;
  struct Held;

  [[nodiscard]] std::size_t posted();
  [[nodiscard]] std::optional<nanoseconds> begun(std::size_t task);
  void ended(std::size_t task);
  [[nodiscard]] bool stuck();
  /// Before one call of the device: time, and what goes wrong.
  void call(const DeviceCall& call, bool first_use);
  void compile_part();
  /// While the compile thread is at a part: the helper compiles others, if it comes to it.
  void let_help();
  /// Before memory is given: time, and what goes wrong.
  void give(std::size_t bytes, bool space);
  /// The scenario's fault of that kind and number, which fires with it.
  [[nodiscard]] const Fault* fires(FaultKind kind, std::int64_t nth);
  [[nodiscard]] std::string cause(const Fault& fault);
  [[nodiscard]] nanoseconds jittered(nanoseconds cost);

  const Scenario& scenario_;
  Observer& observer_;
  Random random_;
  std::vector<Event> events_;
  std::vector<SimulatedCompile> compiles_;
  std::set<std::pair<std::int64_t, std::int64_t>> bodies_;  ///< batches and tokens compiled for
  std::size_t current_ = 0;                                 ///< the compile that runs, from 1
  std::size_t steps_ = 0;
  std::size_t artifacts_ = 0;
  std::int64_t gifts_ = 0;  ///< calls for memory
  std::size_t frees_pending_ = 0;
  std::size_t helped_parts_ = 0;
  std::vector<std::string> causes_;
  std::set<FaultKind> fired_;
  bool fatal_ = false;
  bool space_refused_ = false;
  std::optional<std::stop_source> stop_;
  std::shared_ptr<compile::FakeScript> script_ = std::make_shared<compile::FakeScript>();
  std::shared_ptr<Held> held_;
  std::unique_ptr<Pages> pages_;
  Timeline timeline_;
  ManualExecutor helper_;
  Random helps_;  ///< when the helper comes to it; its own, so that worlds do not depend on it
  bool helping_ = false;
  std::unique_ptr<compile::ProgramStore> store_;
};

}  // namespace ahead::sim
