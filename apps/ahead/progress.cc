// See progress.h. May use: include/ahead, base, POSIX.
#include "progress.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/printable.h"
#include "report.h"
#include "wording.h"

namespace ahead::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery{200};

bool is_bar(ProgressDisplay::Style style) {
  return style == ProgressDisplay::Style::kBar || style == ProgressDisplay::Style::kBarBelow;
}

std::chrono::nanoseconds monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

// Of the terminal behind `fd`; 80 when it does not say.
std::size_t columns(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80U;
}

bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Terminal sequences. Down-and-up first makes sure that there is a line below, scrolling at the
// bottom of the screen, before the cursor's place is saved.
constexpr std::string_view kMakeLineBelow = "\033D\033M";
constexpr std::string_view kSaveAndGoBelow = "\0337\033[B\r";
constexpr std::string_view kRestore = "\0338";
constexpr std::string_view kEraseLine = "\r\033[K";

}  // namespace

// Calls back a few times a second until it ends.
class ProgressDisplay::Ticker {
 public:
  explicit Ticker(std::function<void()> tick)
      : tick_(std::move(tick)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, kRedrawEvery, [&] { return stop.stop_requested(); })) {
      tick_();
    }
  }

  const std::function<void()> tick_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: joins first
};

ProgressDisplay::ProgressDisplay(Options options, Outlet& out)
    : options_(options), out_(out), begin_(monotonic()) {
  if (is_bar(options_.style)) {
    try {
      ticker_ = std::make_unique<Ticker>([this] { redraw(); });
    } catch (const std::system_error&) {
      // No thread is to be had: the bar moves when something happens.
    }
  }
}

ProgressDisplay::~ProgressDisplay() { finish(); }

void ProgressDisplay::phase(const std::string& what) {
  const std::lock_guard lock(mutex_);
  state_ = ProgressState{};
  state_.phase = printable(what);
  state_.phase_begin_s = now_s();
  line(state_.phase);
  draw();
}

void ProgressDisplay::begin_request(std::int64_t prompt_tokens) {
  const std::lock_guard lock(mutex_);
  state_.prompt_tokens = prompt_tokens;
  state_.phase = "starting";
  state_.phase_begin_s = now_s();
}

void ProgressDisplay::update(const Progress& event) {
  if (options_.style == Style::kNone) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (const auto text = apply(state_, event, now_s())) {
    line(*text);
    draw();
  }
}

void ProgressDisplay::around_text(std::string_view text, const std::function<void()>& write) {
  const std::lock_guard lock(mutex_);
  if (options_.style == Style::kBarBelow) {
    erase();
  }
  come_first();
  write();
  text_.write(text, columns(options_.fd));
  if (options_.style == Style::kBarBelow) {
    draw();
  }
}

void ProgressDisplay::notice(const std::string& text) {
  if (options_.style == Style::kNone) {
    return;
  }
  const std::lock_guard lock(mutex_);
  erase();
  out_.offer(note_line(text));
  draw();
}

// Where text and progress meet in one place, what was said before the text stands before it. There
// the text waits for the same reader.
void ProgressDisplay::come_first() {
  if (options_.style == Style::kBarBelow || options_.shares_file) (void)out_.flush();
}

void ProgressDisplay::finish() {
  const std::lock_guard lock(mutex_);
  erase();
  finished_ = true;
}

double ProgressDisplay::now_s() const {
  return std::chrono::duration<double>(monotonic() - begin_).count();
}

void ProgressDisplay::line(const std::string& text) {
  if (options_.style == Style::kLines && !finished_) {
    const std::string stamp = "[" + right(fixed(now_s(), 1), 6) + " s] ";
    out_.offer((options_.shares_file && text_.line_open() ? "\n" : "") + stamp + text + "\n");
    text_ = TextColumn{};
  }
}

void ProgressDisplay::draw() {
  const std::size_t width = columns(options_.fd);
  const bool below = options_.style == Style::kBarBelow;
  if (!is_bar(options_.style) || finished_ || (below && !text_.can_leave(width)) || !out_.idle()) {
    return;
  }
  std::string out;
  if (below) {
    out.append(kMakeLineBelow).append(kSaveAndGoBelow);
  }
  out.append(kEraseLine);
  out += bar_line(state_, now_s(), width - 1);  // A full line would wrap.
  if (below) {
    out.append(kRestore);
  }
  out_.offer(out);
  drawn_ = true;
}

void ProgressDisplay::erase() {
  if (!drawn_) {
    return;
  }
  std::string out;
  const bool below = options_.style == Style::kBarBelow;
  if (below) {
    out.append(kSaveAndGoBelow);
  }
  out.append(kEraseLine);
  if (below) {
    out.append(kRestore);
  }
  out_.offer(out);
  drawn_ = false;
}

void ProgressDisplay::redraw() {
  const std::lock_guard lock(mutex_);
  draw();
}

ProgressDisplay::Options display_here(bool quiet) {
  using Style = ProgressDisplay::Style;
  if (quiet) {
    return {};
  }
  const char* const terminal = std::getenv("TERM");
  const bool can_draw =
      ::isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
  if (!can_draw) {
    return {.style = Style::kLines, .shares_file = same_file(STDOUT_FILENO, STDERR_FILENO)};
  }
  return {.style = ::isatty(STDOUT_FILENO) != 0 ? Style::kBarBelow : Style::kBar};
}

}  // namespace ahead::cli
