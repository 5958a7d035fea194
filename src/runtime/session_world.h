// Test support: a machine in which time passes only where a script says so: a device, a compiler
// beside it, and memory. May use: base, compile, kv, plan.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/executor.h"
#include "compile/fake_backend.h"
#include "compile/program_store.h"
#include "kv/fake_pages.h"
#include "runtime/session.h"

namespace ahead::runtime {

/// Pages whose allocation takes time.
class TimedPages final : public kv::PageProvider {
 public:
  explicit TimedPages(ManualClock& clock) : clock_(clock) {}
  kv::Region allocate(std::size_t bytes) override {
    clock_.advance(allocation_cost);
    return fake.allocate(bytes);
  }
  kv::Region reserve(std::size_t bytes) override { return allocate(bytes); }
  void prefault(kv::Region region, kv::Range range) noexcept override {
    fake.prefault(region, range);
  }
  void commit(kv::Region region, kv::Range range) override { fake.commit(region, range); }
  void release(kv::Region region) noexcept override { fake.release(region); }
  [[nodiscard]] std::size_t committed_bytes(kv::Region region) const override {
    return fake.committed_bytes(region);
  }

  kv::FakePages fake;
  std::chrono::nanoseconds allocation_cost{0};

 private:
  ManualClock& clock_;
};

/// A compile thread in virtual time: it begins a task when it is posted, or when it is done with
/// the one before, and a compile takes what it costs. Tasks really run once their end has come,
/// seeing their own time; then a device that steps meanwhile has lost nothing to them.
class VirtualThread final : public Executor {
 public:
  /// `cost_of_newest` says what the compile costs that is being posted, if it is one.
  VirtualThread(ManualClock& clock,
                std::function<std::optional<std::chrono::nanoseconds>()> cost_of_newest)
      : clock_(clock), cost_of_newest_(std::move(cost_of_newest)) {}

  void post(std::function<void()> task) override {
    const auto cost = cost_of_newest_();
    tasks_.push_back({std::move(task), clock_.now(), cost.value_or(TimePoint(0))});
  }

  bool wait(std::stop_token stop, const std::function<bool()>& done) override {
    while (!done()) {
      if (stop.stop_requested()) return false;
      AHEAD_CHECK(run_one(), "waiting for something that no queued task can bring about");
    }
    return true;
  }

  /// Runs the tasks whose end has come.
  void run_due() {
    while (!tasks_.empty() && end_of_next() <= clock_.now()) run_one();
  }

  /// Lets the time pass until the oldest task has ended; false when there is none.
  bool run_one() {
    if (tasks_.empty()) return false;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    time_ = std::max(task.posted, free_at_);
    free_at_ = *time_ + task.cost;
    clock_.advance(std::max(free_at_ - clock_.now(), TimePoint(0)));
    task.run();
    time_.reset();
    return true;
  }

  /// The running compile has taken what it costs.
  void spend() { time_ = free_at_; }

  /// The time as a task sees it, and as everybody else does between tasks.
  [[nodiscard]] TimePoint now() const { return time_.value_or(clock_.now()); }
  [[nodiscard]] std::size_t queued() const { return tasks_.size(); }

 private:
  struct Task {
    std::function<void()> run;
    TimePoint posted;
    std::chrono::nanoseconds cost;
  };
  [[nodiscard]] TimePoint end_of_next() const {
    return std::max(tasks_.front().posted, free_at_) + tasks_.front().cost;
  }

  ManualClock& clock_;
  const std::function<std::optional<std::chrono::nanoseconds>()> cost_of_newest_;
  std::deque<Task> tasks_;
  TimePoint free_at_{0};
  std::optional<TimePoint> time_;  ///< while a task runs
};

/// The time as the store sees it, on either thread.
class StoreClock final : public Clock {
 public:
  explicit StoreClock(const VirtualThread& thread) : thread_(thread) {}
  [[nodiscard]] TimePoint now() const override { return thread_.now(); }

 private:
  const VirtualThread& thread_;
};

/// What one request came to.
struct Outcome {
  RunResult result;
  std::vector<std::int32_t> tokens;  ///< as accepted
  std::vector<Progress> progress;
  std::size_t wrong_logits = 0;  ///< steps whose logits are not the model's
  double elapsed_s = 0;
};

/// A device, and a compiler that works beside it.
class World {
 public:
  struct Options {
    Axes axes{.ladder = {16, 32, 64, 128}, .schedule = Schedule::kOneAhead};
    std::int64_t chunk = 16;
    bool cut = false;
    std::size_t resident = 2;
    std::vector<std::int64_t> chunks = {};  ///< of schedule planned; none: `chunk`
    std::vector<Form> forms = {{}};         ///< of schedule planned
    std::int64_t weight_bytes = 0;          ///< of schedule planned: 4 MB are a millisecond a step
    std::int64_t window = 0;                ///< of the model's last layer
  };
  struct Ask {
    std::vector<std::int32_t> prompt = {3, 1, 4, 1};
    std::int64_t max_new_tokens = 100'000;
    std::stop_token stop;
    /// Called for each token, with how many there are; a reason ends the request.
    std::function<std::optional<FinishReason>(std::size_t)> on_token;
    std::function<void(const Progress&)> on_progress;
    /// Of a conversation: used and filled.
    KeptCache* kept = nullptr;
  };

  explicit World(const Options& chosen);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Outcome run(const Ask& ask);
  Outcome run() { return run(Ask{}); }

  /// What a batch came to.
  struct Batch {
    RunResult result;
    std::vector<std::vector<std::int32_t>> tokens;  ///< by sequence
    std::size_t wrong_logits = 0;
  };
  struct BatchAsk {
    std::vector<std::vector<std::int32_t>> prompts;
    std::int64_t max_new_tokens = 100'000;
    std::stop_token stop;
    /// Called for each token, with its sequence and how many that one has.
    std::function<std::optional<FinishReason>(std::int64_t row, std::size_t tokens)> on_token;
    std::function<void(const Progress&)> on_progress;
  };
  Batch run_batch(const BatchAsk& ask);

  [[nodiscard]] Session::Options session_options() const;
  /// The fake model's cache.
  [[nodiscard]] kv::Layout layout() const;
  /// Shapes in the order their compiles were started.
  [[nodiscard]] std::vector<graph::ProgramShape> started() const;

  const Options options;
  ManualClock clock;
  VirtualThread executor{clock, [this] { return cost_of_newest(); }};
  StoreClock store_clock{executor};
  /// Takes parts of a program that is waited for while the compile thread compiles one.
  ManualExecutor helper;
  TimedPages pages{clock};
  plan::CostModel costs;  ///< of all requests
  /// What a compile takes; 10 ms where nothing is said.
  std::map<graph::ProgramShape, std::chrono::nanoseconds> compile_costs;
  std::size_t helped = 0;  ///< parts that the helper compiled
  /// Called during every step, after the compile that may have ended in it.
  std::function<void()> on_step;
  std::shared_ptr<compile::FakeScript> script = std::make_shared<compile::FakeScript>();
  std::shared_ptr<compile::FakeBackend> backend;
  std::unique_ptr<compile::ProgramStore> store;

 private:
  /// The compile thread is at a part: what it left to the helper is compiled meanwhile.
  void help();
  /// The store logs a compile, then posts it; what it posts otherwise frees programs.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cost_of_newest();

  std::size_t compiles_posted_ = 0;
  bool helping_ = false;
};

[[nodiscard]] inline graph::ProgramShape decode_at(std::int64_t rung) { return {.rung = rung}; }
[[nodiscard]] inline graph::ProgramShape prefill_at(std::int64_t rung, std::int64_t chunk = 16) {
  return {.tokens = chunk, .rung = rung};
}

[[nodiscard]] inline std::string name_of(Schedule schedule) {
  return schedule == Schedule::kEager      ? "Eager"
         : schedule == Schedule::kOneAhead ? "OneAhead"
         : schedule == Schedule::kPlanned  ? "Planned"
                                           : "OnDemand";
}

/// `count` tokens of the model's vocabulary.
[[nodiscard]] inline std::vector<std::int32_t> prompt_of(std::size_t count) {
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < count; ++i) prompt.push_back(static_cast<std::int32_t>(i * 7 % 53));
  return prompt;
}

}  // namespace ahead::runtime
