// Parts in order, results as they come. May use: base.
#include "compile/part_queue.h"

#include <utility>

namespace ahead::compile {

void PartQueue::work(const std::function<bool()>& wanted) {
  std::unique_lock lock(mutex_);
  while (next_ < parts_.size() && failed_.empty()) {
    lock.unlock();
    const bool goes_on = wanted();
    lock.lock();
    if (!goes_on || next_ == parts_.size() || !failed_.empty()) return;
    const std::size_t part = parts_[next_++];
    ++running_;
    lock.unlock();
    std::shared_ptr<Artifact> artifact;
    std::exception_ptr error;
    try {
      artifact = compile_(part);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      failed_[part] = error;
    } else {
      made_[part] = std::move(artifact);
    }
    --running_;
    changed_.notify_all();
  }
}

std::map<std::size_t, std::shared_ptr<Artifact>> PartQueue::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
  if (!failed_.empty()) std::rethrow_exception(failed_.begin()->second);
  return std::move(made_);
}

}  // namespace ahead::compile
