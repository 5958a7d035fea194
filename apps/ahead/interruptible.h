// Work that cannot be told to stop, and a caller who need not wait for its end. May use: std.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

namespace ahead::cli {

/// Runs `work` on a thread of its own: what it returns or throws, or nothing once `stop` is
/// requested. In that case the thread goes on alone: `work` must own what it uses, and the program
/// must end with _Exit.
template <typename Work>
auto unless_stopped(std::stop_token stop, Work work) -> std::optional<std::invoke_result_t<Work&>> {
  struct Shared {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<std::invoke_result_t<Work&>> value;  // guarded by mutex
    std::exception_ptr error;                          // guarded by mutex
  };
  if (stop.stop_requested()) {
    return std::nullopt;
  }
  const auto shared = std::make_shared<Shared>();
  std::thread([shared, work = std::move(work)]() mutable {
    std::optional<std::invoke_result_t<Work&>> value;
    std::exception_ptr error;
    try {
      value.emplace(work());
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(shared->mutex);
    shared->value = std::move(value);
    shared->error = error;
    shared->changed.notify_all();
  }).detach();

  std::unique_lock lock(shared->mutex);
  shared->changed.wait(lock, std::move(stop),
                       [&] { return shared->value.has_value() || shared->error != nullptr; });
  if (shared->error) {
    std::rethrow_exception(shared->error);
  }
  return std::move(shared->value);
}

}  // namespace ahead::cli
