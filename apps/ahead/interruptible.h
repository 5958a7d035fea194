// Work that cannot be told to stop, and a caller who need not wait for its end. May use: std.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace ahead::cli {

/// When a stopped caller leaves.
struct Leaving {
  std::chrono::milliseconds patience{0};            ///< after the stop, for work that hears of it
  std::function<bool()> may = [] { return true; };  ///< asked then; otherwise it waits to the end
};

/// Runs `work` on a thread of its own: what it returns or throws, or nothing once `stop` is
/// requested and the caller leaves. In that case the thread goes on alone: `work` must own what it
/// uses, and the program must end with _Exit. Where no thread can be had, on the caller's.
template <typename Work>
auto unless_stopped(std::stop_token stop, Work work, const Leaving& leaving = {})
    -> std::optional<std::invoke_result_t<Work&>> {
  struct Shared {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<std::invoke_result_t<Work&>> value;  // guarded by mutex
    std::exception_ptr error;                          // guarded by mutex
  };
  if (stop.stop_requested() && leaving.may()) {
    return std::nullopt;
  }
  const auto shared = std::make_shared<Shared>();
  const auto run = [shared, owned = std::make_shared<Work>(std::move(work))] {
    std::optional<std::invoke_result_t<Work&>> value;
    std::exception_ptr error;
    try {
      Work mine = std::move(*owned);  // gone with what it owns before the caller goes on
      value.emplace(mine());
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(shared->mutex);
    shared->value = std::move(value);
    shared->error = error;
    shared->changed.notify_all();
  };
  try {
    std::thread(run).detach();
  } catch (const std::system_error&) {
    run();
  }

  const auto done = [&] { return shared->value.has_value() || shared->error != nullptr; };
  std::unique_lock lock(shared->mutex);
  if (!shared->changed.wait(lock, std::move(stop), done) &&
      !shared->changed.wait_for(lock, leaving.patience, done)) {
    lock.unlock();  // the work may be calling what `may` waits for
    const bool leaves = leaving.may();
    lock.lock();
    if (!leaves) {
      shared->changed.wait(lock, done);
    }
  }
  if (shared->error) {
    std::rethrow_exception(shared->error);
  }
  return std::move(shared->value);
}

}  // namespace ahead::cli
