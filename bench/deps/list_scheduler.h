// A list scheduler over tasks that share a small fast memory: the questions that it asks about
// dependencies are those of the NPU compiler's feasible memory scheduler, prefetching and schedule
// analysis, place by place. What it computes besides is as little as keeps the questions honest.
// May use: std.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "deps/dependency_sets.h"
#include "deps/task_graph.h"

namespace ahead::bench {

struct ScheduleOptions {
  std::size_t memory_bytes = 0;     ///< of the fast memory
  std::size_t copy_ports = 2;       ///< copies a cycle
  std::size_t analysis_passes = 2;  ///< after scheduling: prefetching and schedule analysis
};

/// What a schedule came to: enough to tell two apart.
struct ScheduleFacts {
  std::uint64_t checksum = 0;  ///< over every answer, in order
  std::uint64_t cycles = 0;
  std::uint64_t spills = 0;  ///< each adds two tasks and their dependencies
};

/// `Sets` is SortingSets or RememberingSets.
template <typename Sets>
class ListScheduler {
 public:
  ListScheduler(const TaskGraph& graph, const ScheduleOptions& options)
      : graph_(graph), options_(options) {
    before_.resize(graph.size());
    behind_.resize(graph.size());
    for (std::size_t task = 0; task < graph.size(); ++task) {
      for (const std::size_t other : graph[task].dependencies) {
        before_.insert(task, other);
        behind_.insert(other, task);
      }
    }
  }

  ScheduleFacts run() {
    const std::size_t tasks = graph_.size();
    waits_for_.resize(tasks);
    wanted_by_.resize(tasks);
    held_.resize(tasks, 0);
    for (std::size_t task = 0; task < tasks; ++task) {
      waits_for_[task] = before_.set(task).size();
      wanted_by_[task] = behind_.set(task).size();
      if (waits_for_[task] == 0) ready(task);
    }
    while (!copies_.empty() || !computes_.empty()) cycle();
    for (std::size_t pass = 0; pass < options_.analysis_passes; ++pass) analyse();
    return facts_;
  }

  [[nodiscard]] SetCounts counts() const {
    return {.asked = before_.counts().asked + behind_.counts().asked,
            .sorted = before_.counts().sorted + behind_.counts().sorted};
  }

 private:
  void ready(std::size_t task) { (graph_of(task).copies ? copies_ : computes_).insert(task); }

  [[nodiscard]] const Task& graph_of(std::size_t task) const {
    return task < graph_.size() ? graph_[task] : spilled_[task - graph_.size()];
  }

  /// Every answer goes into the checksum: two schedules that agree in it asked the same.
  template <typename Answer>
  Answer noted(Answer&& answer) {
    std::uint64_t sum = answer.size();
    for (const std::size_t other : answer) sum = sum * 31 + other;
    facts_.checksum = (facts_.checksum ^ sum) * 0x100000001b3;
    return std::forward<Answer>(answer);
  }

  /// Takes the next compute task that can run, with its copies; asks each that waits.
  void cycle() {
    ++facts_.cycles;
    // Ready copies are looked at each cycle: which of them serves a task that comes soon.
    std::size_t ports = options_.copy_ports;
    for (auto it = copies_.begin(); it != copies_.end();) {
      const std::size_t task = *it;
      const bool free = noted(before_.sorted(task)).empty() || waits_for_[task] == 0;
      if (ports > 0 && free && used_ + graph_of(task).bytes <= options_.memory_bytes) {
        --ports;
        it = copies_.erase(it);
        finish(task);
      } else {
        ++it;
      }
    }
    for (auto it = computes_.begin(); it != computes_.end(); ++it) {
      const std::size_t task = *it;
      std::size_t wanted = graph_of(task).bytes;
      for (const std::size_t other : noted(before_.sorted(task)))
        wanted += held_[other] == 0 ? graph_of(other).bytes : 0;
      if (used_ + wanted > options_.memory_bytes) continue;
      computes_.erase(it);
      finish(task);
      return;
    }
    if (ports < options_.copy_ports) return;
    if (used_ > 0) return spill();
    // Alone and still too large for the fast memory: it goes through it in parts.
    std::set<std::size_t>& waiting = computes_.empty() ? copies_ : computes_;
    const std::size_t task = *waiting.begin();
    waiting.erase(task);
    finish(task);
  }

  /// Its room is taken, its consumers come nearer, and what only it wanted is let go.
  void finish(std::size_t task) {
    held_[task] = graph_of(task).bytes;
    used_ += held_[task];
    // As the scheduler does when an operation's time is over: consumers, then its own inputs.
    for (const std::size_t other : noted(behind_.sorted(task))) {
      if (--waits_for_[other] == 0) ready(other);
    }
    for (const std::size_t other : noted(before_.sorted(task))) {
      if (--wanted_by_[other] == 0) let_go(other);
    }
    if (wanted_by_[task] == 0) let_go(task);
  }

  void let_go(std::size_t task) {
    used_ -= held_[task];
    held_[task] = 0;
  }

  /// No room: the largest value that is held goes to the large memory and comes back later. Two new
  /// tasks, through which its consumers depend on it from now on.
  void spill() {
    ++facts_.spills;
    std::size_t victim = 0;
    for (std::size_t task = 0; task < held_.size(); ++task) {
      if (held_[task] > held_[victim]) victim = task;
    }
    const std::size_t out = add_task({.copies = true});
    const std::size_t in = add_task({.copies = true});
    depend(out, victim);
    depend(in, out);
    const std::vector<std::size_t> consumers = noted(behind_.sorted(victim));
    for (const std::size_t consumer : consumers) {
      if (consumer != out && waits_for_[consumer] > 0) depend(consumer, in);
    }
    let_go(victim);
    // It comes back beside the consumer that wants it: no one waits for that here.
    for (const std::size_t other : noted(behind_.sorted(out))) --waits_for_[other];
    for (const std::size_t other : noted(behind_.sorted(in))) {
      if (--waits_for_[other] == 0) ready(other);
    }
  }

  std::size_t add_task(Task task) {
    const std::size_t number = before_.size();
    spilled_.push_back(std::move(task));
    before_.resize(number + 1);
    behind_.resize(number + 1);
    waits_for_.push_back(0);
    wanted_by_.push_back(0);
    held_.push_back(0);
    return number;
  }

  void depend(std::size_t task, std::size_t other) {
    before_.insert(task, other);
    behind_.insert(other, task);
    ++waits_for_[task];
    ++wanted_by_[other];
  }

  /// Over the whole schedule once: what each task waited for, and who waited for it.
  void analyse() {
    for (std::size_t task = 0; task < before_.size(); ++task) {
      for (const std::size_t other : noted(before_.sorted(task))) noted(behind_.sorted(other));
    }
  }

  const TaskGraph& graph_;
  const ScheduleOptions options_;
  Sets before_;
  Sets behind_;
  std::vector<Task> spilled_;
  std::vector<std::size_t> waits_for_;
  std::vector<std::size_t> wanted_by_;
  std::vector<std::size_t> held_;  // bytes
  std::size_t used_ = 0;
  std::set<std::size_t> copies_;
  std::set<std::size_t> computes_;
  ScheduleFacts facts_;
};

}  // namespace ahead::bench
