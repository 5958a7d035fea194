// Virtual time, and the compile thread that lives in it: time passes only where somebody spends it,
// and everything that ends meanwhile ends at its own moment. Single-threaded. May use: base.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>

#include "base/clock.h"
#include "base/executor.h"

namespace ahead::sim {

/// Tasks really run once their end has come, seeing their own time; a device that steps meanwhile
/// has lost nothing to them.
class Timeline final : public Clock, public Executor {
 public:
  /// What the world says of tasks.
  struct Hooks {
    /// A task was posted; returns what on_begin and on_end are told of it.
    std::function<std::size_t()> on_post;
    /// The thread takes the task up now. Returns what it costs; nothing: it ends when end_running()
    /// says so.
    std::function<std::optional<std::chrono::nanoseconds>(std::size_t)> on_begin;
    std::function<void(std::size_t)> on_end;
    /// Somebody waits, and nothing will ever end by itself. Must bring about an end or an alarm;
    /// false: there is none, and the wait ends.
    std::function<bool()> on_stuck;
    std::function<void(bool begins)> on_wait;
  };
  explicit Timeline(Hooks hooks) : hooks_(std::move(hooks)) {}

  /// A task sees the time it has come to itself.
  [[nodiscard]] TimePoint now() const override { return task_time_.value_or(now_); }
  void post(std::function<void()> task) override;
  bool wait(std::stop_token stop, const std::function<bool()>& done) override;

  /// Spends time; what ends in it ends, the last moment included.
  void advance(std::chrono::nanoseconds by);
  /// In a task: it has taken what it costs.
  void spend_task();
  [[nodiscard]] bool in_task() const { return task_time_.has_value(); }

  /// The task that runs without an end ends then.
  void end_running(TimePoint at);
  [[nodiscard]] bool endless() const { return running_ && !running_->end; }
  /// Whether the thread works now.
  [[nodiscard]] bool busy() const { return running_.has_value(); }
  [[nodiscard]] std::size_t queued() const { return queue_.size() + (running_ ? 1 : 0); }

  /// Calls `ring` then; an alarm set before is gone.
  void set_alarm(TimePoint at, std::function<void()> ring);
  void clear_alarm() { alarm_.reset(); }

  /// Spent in wait() since the beginning.
  [[nodiscard]] std::chrono::nanoseconds waited() const { return waited_; }

  /// Ends everything that has an end.
  void drain();
  /// Forgets what is queued or running.
  void drop();

 private:
  struct Task {
    std::function<void()> run;
    std::size_t id = 0;
    TimePoint begin{0};
    std::optional<TimePoint> end;
  };
  struct Alarm {
    TimePoint at{0};
    std::function<void()> ring;
  };
  void begin_next();
  void end_task();
  /// When the next thing ends by itself.
  [[nodiscard]] std::optional<TimePoint> next() const;
  void step_to(TimePoint at);

  const Hooks hooks_;
  TimePoint now_{0};
  std::optional<TimePoint> task_time_;  ///< while a task runs
  std::optional<TimePoint> task_end_;   ///< likewise
  std::deque<Task> queue_;
  std::optional<Task> running_;
  std::optional<Alarm> alarm_;
  std::chrono::nanoseconds waited_{0};
};

}  // namespace ahead::sim
