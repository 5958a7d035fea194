// Progress on standard error: a live bar on a terminal, plain lines elsewhere, nothing when quiet.
// May use: include/ahead, base, POSIX.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "ahead/generation_config.h"
#include "base/outlet.h"
#include "progress_state.h"

namespace ahead::cli {

/// Thread-safe: the bar is redrawn from a thread of its own, where one can be had, so that a long
/// compile is seen to take its time. Nobody waits for a reader of standard error: lines that it
/// does not take come later, a bar not at all.
class ProgressDisplay {
 public:
  enum class Style {
    kNone,
    kLines,
    kBar,       ///< on the terminal's current line
    kBarBelow,  ///< on the line below the text: both go to one terminal
  };
  struct Options {
    Style style = Style::kNone;
    bool shares_file = false;  ///< text goes to the same file: lines must not cut into it
    int fd = 2;                ///< that `out` writes to: how wide it is
  };
  ProgressDisplay(Options options, Outlet& out);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// What goes on outside generate().
  void phase(const std::string& what);
  /// A request with that many prompt tokens begins: counts start anew.
  void begin_request(std::int64_t prompt_tokens);
  void update(const Progress& event);
  /// Runs `write`, which writes `text` to standard output, with the bar out of the way.
  void around_text(std::string_view text, const std::function<void()>& write);
  /// A note on a line of its own, unless quiet. Not while a line of text is open.
  void notice(const std::string& text);
  /// Takes the bar away for good. What is written to `out` from then on stands behind it.
  void finish();

 private:
  [[nodiscard]] double now_s() const;
  void line(const std::string& text);
  void draw();
  void erase();
  void redraw();
  void come_first();

  class Ticker;
  const Options options_;
  Outlet& out_;
  const std::chrono::nanoseconds begin_;
  std::mutex mutex_;
  ProgressState state_;             // guarded by mutex_
  TextColumn text_;                 // guarded by mutex_
  bool drawn_ = false;              // guarded by mutex_
  bool finished_ = false;           // guarded by mutex_
  std::unique_ptr<Ticker> ticker_;  // last: ends first
};

/// The options for what standard output and standard error are connected to.
[[nodiscard]] ProgressDisplay::Options display_here(bool quiet);

}  // namespace ahead::cli
