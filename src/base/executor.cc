// The worker thread and its hand-cranked twin. May use: std.
#include "base/executor.h"

#include <optional>
#include <utility>

#include "base/check.h"

namespace ahead {

ThreadExecutor::ThreadExecutor(Options options) : options_(std::move(options)) {
  // A thread inherits its creator's cores. Pinning here, not in the worker, makes cores that cannot
  // be used an error the caller meets.
  std::optional<ScopedAffinity> inherited;
  if (!options_.cores.empty()) inherited.emplace(options_.cores, options_.pinning);
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

ThreadExecutor::~ThreadExecutor() {
  thread_.request_stop();
  std::deque<std::function<void()>> dropped;  // destroyed unlocked: see work()
  const std::lock_guard lock(mutex_);
  dropped.swap(queue_);
}

void ThreadExecutor::post(std::function<void()> task) {
  AHEAD_CHECK(task != nullptr, "a task can be called");
  {
    const std::lock_guard lock(mutex_);
    AHEAD_CHECK(queue_.size() < options_.queue_bound, "the executor's queue is full");
    queue_.push_back(std::move(task));
  }
  changed_.notify_all();
}

bool ThreadExecutor::wait(std::stop_token stop, const std::function<bool()>& done) {
  std::unique_lock lock(mutex_);
  while (true) {
    const std::size_t seen = finished_;
    lock.unlock();  // `done` may take locks that a task holds while it posts
    const bool is_done = done();
    lock.lock();
    if (is_done) return true;
    if (stop.stop_requested()) return false;
    changed_.wait(lock, stop, [&] { return finished_ != seen; });
  }
}

void ThreadExecutor::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    if (stop.stop_requested()) return;
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes while unlocked, as that may post or take locks of its own
    lock.lock();
    ++finished_;
    changed_.notify_all();
  }
}

void ManualExecutor::post(std::function<void()> task) {
  AHEAD_CHECK(task != nullptr, "a task can be called");
  AHEAD_CHECK(queue_.size() < queue_bound_, "the executor's queue is full");
  queue_.push_back(std::move(task));
}

bool ManualExecutor::wait(std::stop_token stop, const std::function<bool()>& done) {
  while (!done()) {
    if (stop.stop_requested()) return false;
    AHEAD_CHECK(run_one(), "waiting for something that no queued task can bring about");
  }
  return true;
}

bool ManualExecutor::run_one() {
  if (queue_.empty()) return false;
  const std::function<void()> task = std::move(queue_.front());
  queue_.pop_front();
  task();
  return true;
}

}  // namespace ahead
