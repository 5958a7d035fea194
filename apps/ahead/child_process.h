// Programs run to their ends and watched: what they print, how long they take, what memory they
// hold.
// May use: base, POSIX.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace ahead::cli {

struct ChildRequest {
  std::vector<std::string> words;  ///< the program, looked for as a shell does, and its arguments
  std::vector<int> cores;          ///< it is held to these; empty: to none
  std::chrono::duration<double> timeout{3600};
  std::stop_token stop;
};

/// Seconds are those in which it ran: what others had while it was stopped does not count.
struct ChildResult {
  std::string start_error;  ///< why it did not start; empty: it did
  int exit_code = -1;       ///< where it ended by itself
  int signal = 0;           ///< that ended it, or 0
  bool timed_out = false;
  bool stopped = false;                  ///< ended because a stop was requested
  double seconds = 0;                    ///< from its start to its end
  std::optional<double> first_output_s;  ///< from its start to the first byte on standard output
  std::int64_t rss_peak_bytes = 0;       ///< as the kernel accounts it, with its children's
  std::vector<std::pair<double, std::int64_t>> rss;  ///< seconds since the start, bytes
  std::string output;                                ///< standard output, its last 16 MiB
  std::string errors;                                ///< standard error, its last 64 KiB

  [[nodiscard]] bool good() const {
    return start_error.empty() && exit_code == 0 && !timed_out && !stopped;
  }
  /// What became of it, in a line; empty: it did well.
  [[nodiscard]] std::string failure() const;
};

/// Waits for it. It has a process group of its own, which ends with it, or at the timeout, at a
/// stop, and when this process dies. Standard input is empty.
[[nodiscard]] ChildResult run_child(const ChildRequest& request);

/// Several at once that take turns of `turn`, in their order: one runs while the others are
/// stopped, so that a machine whose speed drifts is as fast for each of them. Their results, in
/// their order.
[[nodiscard]] std::vector<ChildResult> run_in_turns(const std::vector<ChildRequest>& requests,
                                                    std::chrono::milliseconds turn);

}  // namespace ahead::cli
