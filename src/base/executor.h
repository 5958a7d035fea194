// Where background work runs: one worker with a bounded queue, and a hand-cranked twin for tests
// in which nothing runs until it is told to. May use: std.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/affinity.h"

namespace ahead {

/// Runs tasks one at a time, in the order they were posted. Tasks must not throw.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Takes `task` into the queue. Posting beyond the bound is a broken invariant.
  virtual void post(std::function<void()> task) = 0;

  /// Blocks until `done()` holds or `stop` is requested; true when `done()` holds. `done` is
  /// evaluated when called and after every task, in the waiting thread; it may take locks of its
  /// own. The manual twin runs queued tasks in the calling thread meanwhile.
  virtual bool wait(std::stop_token stop, const std::function<bool()>& done) = 0;
};

/// One worker thread, pinned to `cores` when there are any.
class ThreadExecutor final : public Executor {
 public:
  struct Options {
    std::vector<int> cores;
    Pinning pinning = Pinning::kRequired;
    std::size_t queue_bound = 16;
  };
  /// Throws Error(kInvalidArgument) when the cores are required and cannot be used, and
  /// std::system_error when the system has no thread to give.
  explicit ThreadExecutor(Options options);
  /// Drops what is queued, waits for the task that runs.
  ~ThreadExecutor() override;

  void post(std::function<void()> task) override;
  bool wait(std::stop_token stop, const std::function<bool()>& done) override;

 private:
  void work(const std::stop_token& stop);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  std::size_t finished_ = 0;                 // guarded by mutex_
  std::jthread thread_;                      // last: joins first
};

/// Runs nothing until told to. Single-threaded.
class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(std::size_t queue_bound = 16) : queue_bound_(queue_bound) {}

  void post(std::function<void()> task) override;
  /// Runs queued tasks until `done()`. A wait that can never end is a broken invariant.
  bool wait(std::stop_token stop, const std::function<bool()>& done) override;

  /// Runs the oldest task; false when there is none.
  bool run_one();
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }

 private:
  const std::size_t queue_bound_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace ahead
