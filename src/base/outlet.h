// Bytes to a descriptor whose reader may be slow or stuck, and a stop that need not wait for it.
// May use: std, the kernel.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

namespace ahead {

/// Writes through partial writes, interruptions, and a descriptor that is full, whether it blocks
/// or not. Thread-safe. SIGPIPE must be ignored.
class Outlet {
 public:
  struct Options {
    std::stop_token stop = {};
    /// What all writes together may wait for the reader once the stop is requested.
    std::chrono::milliseconds grace{200};
  };
  /// `fd` stays the caller's, and its flags stay as they are: others may share them.
  explicit Outlet(int fd) : Outlet(fd, Options{}) {}
  Outlet(int fd, Options options);
  ~Outlet();
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  /// Writes what was offered and then `text`, and waits for the reader as long as that takes. 0, or
  /// errno; ECANCELED once a stop was requested and the reader did not come within the grace: from
  /// then on nothing is written.
  [[nodiscard]] int write(std::string_view text);

  /// Waits until what was offered is written. As write().
  [[nodiscard]] int flush() { return write({}); }

  /// Takes `text` without waiting: what the reader does not take now is written before what comes
  /// next. Text of more than a megabyte that nobody reads is dropped.
  void offer(std::string_view text);

  /// Whether all that was offered has gone; writes what goes without waiting.
  [[nodiscard]] bool idle();

 private:
  [[nodiscard]] ssize_t write_now(std::string_view text) const;
  [[nodiscard]] int push(std::string_view text);
  [[nodiscard]] bool wait(bool claimed);
  void push_offered();

  const Options options_;
  int fd_;
  bool owned_ = false;   // fd_ is a descriptor of its own, opened not to block
  bool socket_ = false;  // asked not to block at every call
  bool ready_ = false;   // a file or a device that never keeps a writer waiting
  std::mutex mutex_;
  std::string offered_;                 // guarded by mutex_
  std::chrono::nanoseconds waited_{0};  // after the stop; guarded by mutex_
  bool given_up_ = false;               // guarded by mutex_
};

}  // namespace ahead
