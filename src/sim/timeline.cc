// Events in the order of their time. May use: base.
#include "sim/timeline.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ahead::sim {

void Timeline::post(std::function<void()> task) {
  queue_.push_back({.run = std::move(task), .id = hooks_.on_post()});
  begin_next();
}

bool Timeline::wait(std::stop_token stop, const std::function<bool()>& done) {
  const TimePoint begin = now_;
  hooks_.on_wait(true);
  bool came = done();
  while (!came && !stop.stop_requested()) {
    const std::optional<TimePoint> at = next();
    if (at) {
      step_to(*at);
    } else if (!hooks_.on_stuck()) {
      break;
    }
    came = done();
  }
  waited_ += now_ - begin;
  hooks_.on_wait(false);
  return came;
}

void Timeline::advance(std::chrono::nanoseconds by) {
  AHEAD_CHECK(!in_task(), "tasks spend no time of others");
  const TimePoint end = now_ + by;
  for (auto at = next(); at && *at <= end; at = next()) step_to(*at);
  now_ = end;
}

void Timeline::spend_task() {
  if (in_task()) task_time_ = task_end_;
}

void Timeline::end_running(TimePoint at) {
  AHEAD_CHECK(endless() && at >= now_, "only what has no end is given one, and none in the past");
  running_->end = at;
}

void Timeline::set_alarm(TimePoint at, std::function<void()> ring) {
  alarm_ = Alarm{std::max(at, now_), std::move(ring)};
}

void Timeline::drain() {
  while (running_ && running_->end) {
    now_ = std::max(now_, *running_->end);
    end_task();
  }
}

void Timeline::drop() {
  running_.reset();
  queue_.clear();
}

void Timeline::begin_next() {
  if (running_ || queue_.empty()) return;
  running_ = std::move(queue_.front());
  queue_.pop_front();
  running_->begin = now_;
  if (const auto cost = hooks_.on_begin(running_->id)) running_->end = now_ + *cost;
}

void Timeline::end_task() {
  const Task task = *std::exchange(running_, std::nullopt);
  task_time_ = task.begin;
  task_end_ = task.end;
  task.run();
  task_time_.reset();
  task_end_.reset();
  hooks_.on_end(task.id);
  begin_next();
}

std::optional<TimePoint> Timeline::next() const {
  std::optional<TimePoint> at;
  if (running_) at = running_->end;
  if (alarm_ && (!at || alarm_->at < *at)) at = alarm_->at;
  return at;
}

void Timeline::step_to(TimePoint at) {
  now_ = std::max(now_, at);
  if (running_ && running_->end == at) return end_task();
  if (alarm_ && alarm_->at == at) std::exchange(alarm_, std::nullopt)->ring();
}

}  // namespace ahead::sim
