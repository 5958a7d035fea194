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
  };
  struct Ask {
    std::vector<std::int32_t> prompt = {3, 1, 4, 1};
    std::int64_t max_new_tokens = 100'000;
    std::stop_token stop;
    /// Called for each token, with how many there are; a reason ends the request.
    std::function<std::optional<FinishReason>(std::size_t)> on_token;
    std::function<void(const Progress&)> on_progress;
  };

  explicit World(const Options& chosen) : options(chosen) {
    script->clock = &clock;
    script->decode_cost = std::chrono::milliseconds(1);
    script->prefill_cost = std::chrono::milliseconds(2);
    script->compile_cost = [this](const graph::ProgramShape&, std::size_t) {
      executor.spend();
      return std::chrono::nanoseconds(0);
    };
    script->on_step = [this] {
      executor.run_due();
      if (on_step) on_step();
    };
  }

  Outcome run(const Ask& ask) {
    Outcome outcome;
    compile::FakeModel model;
    std::vector<std::int32_t> history = ask.prompt;
    std::size_t fed = 0;
    const Callbacks callbacks{
        .choose =
            [&](const StepLogits& step) {
              std::vector<float> expected;
              while (fed <= static_cast<std::size_t>(step.position)) {
                expected = model.feed(history.at(fed++));
              }
              if (!std::equal(expected.begin(), expected.end(), step.values.begin(),
                              step.values.end())) {
                ++outcome.wrong_logits;
              }
              return compile::FakeModel::greedy(step.values);
            },
        .accept = [&](std::int64_t, std::int32_t token) -> std::optional<FinishReason> {
          history.push_back(token);
          outcome.tokens.push_back(token);
          return ask.on_token ? ask.on_token(outcome.tokens.size()) : std::nullopt;
        },
        .progress =
            [&](const Progress& progress) {
              outcome.progress.push_back(progress);
              if (ask.on_progress) ask.on_progress(progress);
            }};
    const TimePoint begin = clock.now();
    Session session(session_options(),
                    {.programs = *store, .pages = pages, .clock = clock, .costs = &costs});
    session.run({.prompts = {ask.prompt}, .max_new_tokens = ask.max_new_tokens, .stop = ask.stop},
                callbacks, outcome.result);
    outcome.elapsed_s = to_seconds(clock.now() - begin);
    executor.run_due();
    return outcome;
  }
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
  Batch run_batch(const BatchAsk& ask) {
    Batch outcome;
    outcome.tokens.resize(ask.prompts.size());
    const Callbacks callbacks{
        .choose =
            [&](const StepLogits& step) {
              const auto row = static_cast<std::size_t>(step.row);
              std::vector<std::int32_t> fed = ask.prompts[row];
              fed.insert(fed.end(), outcome.tokens[row].begin(), outcome.tokens[row].end());
              compile::FakeModel model;
              std::vector<float> expected;
              for (const std::int32_t token : fed) expected = model.feed(token);
              if (step.position + 1 != static_cast<std::int64_t>(fed.size()) ||
                  !std::equal(expected.begin(), expected.end(), step.values.begin(),
                              step.values.end())) {
                ++outcome.wrong_logits;
              }
              return compile::FakeModel::greedy(step.values);
            },
        .accept = [&](std::int64_t row, std::int32_t token) -> std::optional<FinishReason> {
          std::vector<std::int32_t>& tokens = outcome.tokens[static_cast<std::size_t>(row)];
          tokens.push_back(token);
          return ask.on_token ? ask.on_token(row, tokens.size()) : std::nullopt;
        },
        .progress = ask.on_progress};
    Session session(session_options(),
                    {.programs = *store, .pages = pages, .clock = clock, .costs = &costs});
    session.run({.prompts = ask.prompts, .max_new_tokens = ask.max_new_tokens, .stop = ask.stop},
                callbacks, outcome.result);
    executor.run_due();
    return outcome;
  }

  [[nodiscard]] Session::Options session_options() const {
    return {.axes = options.axes,
            .prefill_chunk = options.chunk,
            .prospects = {.forms = options.forms,
                          .chunks =
                              options.chunks.empty() ? std::vector{options.chunk} : options.chunks,
                          .weight_bytes = options.weight_bytes},
            .resident_rungs = options.resident,
            .layout = layout()};
  }

  /// The fake model's cache.
  [[nodiscard]] kv::Layout layout() const {
    return {.layers = std::vector<kv::LayerShape>(
                compile::FakeModel::kLayers,
                {compile::FakeModel::kKvHeads, compile::FakeModel::kHeadDim}),
            .block_rows = kv::block_rows_for(options.axes.ladder),
            .type = ElementType::kF32};
  }

  /// Shapes in the order their compiles were started.
  [[nodiscard]] std::vector<graph::ProgramShape> started() const {
    std::vector<graph::ProgramShape> shapes;
    for (const auto& entry : store->log()) shapes.push_back(entry.shape);
    return shapes;
  }

  const Options options;
  ManualClock clock;
  VirtualThread executor{clock, [this] { return cost_of_newest(); }};
  StoreClock store_clock{executor};
  TimedPages pages{clock};
  plan::CostModel costs;  ///< of all requests
  /// What a compile takes; 10 ms where nothing is said.
  std::map<graph::ProgramShape, std::chrono::nanoseconds> compile_costs;
  /// Called during every step, after the compile that may have ended in it.
  std::function<void()> on_step;
  std::shared_ptr<compile::FakeScript> script = std::make_shared<compile::FakeScript>();
  std::shared_ptr<compile::FakeBackend> backend = std::make_shared<compile::FakeBackend>(
      compile::FakeBackend::Options{
          .block_rows = static_cast<std::int64_t>(kv::block_rows_for(options.axes.ladder)),
          .cut = options.cut,
          .joined_from = 1},  // as the forms of a pipeline on the CPU device
      script);
  std::unique_ptr<compile::ProgramStore> store = std::make_unique<compile::ProgramStore>(
      compile::ProgramStore::Options{.backend = backend, .device = "FAKE"}, executor, store_clock);

 private:
  /// The store logs a compile, then posts it; what it posts otherwise frees programs.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cost_of_newest() {
    const auto log = store->log();
    if (log.size() == compiles_posted_) return std::nullopt;
    compiles_posted_ = log.size();
    const auto cost = compile_costs.find(log.back().shape);
    return cost == compile_costs.end() ? std::chrono::milliseconds(10) : cost->second;
  }

  std::size_t compiles_posted_ = 0;
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
