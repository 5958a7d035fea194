// See child_process.h. May use: base, POSIX.
#include "child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/printable.h"

namespace ahead::cli {
namespace {

constexpr std::size_t kMostOutput = std::size_t{16} << 20U;
constexpr std::size_t kMostErrors = std::size_t{64} << 10U;
constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::seconds kGrace{5};
/// Samples of memory that are kept: where there are more, every second one goes.
constexpr std::size_t kMostSamples = 120;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "a pipe to a program");
    }
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_write();
    if (read >= 0) ::close(read);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }

  int read = -1;
  int write = -1;
};

void keep_last(std::string& text, std::size_t most) {
  if (text.size() > 2 * most) text.erase(0, text.size() - most);
}

/// Between fork and exec: nothing but system calls.
[[noreturn]] void become(char* const* words, const cpu_set_t* cores, const Pipe& out,
                         const Pipe& err, int told) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (cores != nullptr && ::sched_setaffinity(0, sizeof *cores, cores) != 0) {
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(told, &error, sizeof error);
    ::_exit(127);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(out.write, STDOUT_FILENO);
  ::dup2(err.write, STDERR_FILENO);
  ::execvp(words[0], words);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(told, &error, sizeof error);
  ::_exit(127);
}

std::int64_t rss_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::int64_t whole = 0;
  std::int64_t resident = 0;
  if (!(file >> whole >> resident)) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// Time that passes only while it runs.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return to_seconds(passed_ + (begin_ ? clock_.now() - *begin_ : TimePoint{0}));
  }
  void go() { begin_ = clock_.now(); }
  void stop() {
    if (begin_) passed_ += clock_.now() - *begin_;
    begin_.reset();
  }

 private:
  const SteadyClock clock_;
  TimePoint passed_{0};
  std::optional<TimePoint> begin_;
};

/// A child that runs, or waits for its turn.
class Watch {
 public:
  explicit Watch(const ChildRequest& request) : request_(request) { start(); }
  ~Watch() {
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// It has ended, or never started.
  [[nodiscard]] bool over() const { return pid_ <= 0; }
  [[nodiscard]] ChildResult take_result() { return std::move(result_); }

  /// Watches it for `turn`, or to its end.
  void run(std::chrono::duration<double> turn) {
    const double until = ran_.seconds() + turn.count();
    do {
      const double left = until - ran_.seconds();
      look(std::min(kLook, std::chrono::milliseconds(std::max(1L, std::lround(left * 1e3)))));
      if (has_ended()) return;
      interrupt();
    } while (ran_.seconds() < until);
  }
  void pause() {
    ::kill(-pid_, SIGSTOP);
    ran_.stop();
  }
  void go_on() {
    ran_.go();
    ::kill(-pid_, SIGCONT);
  }

 private:
  void start() {
    std::vector<char*> words;
    for (const std::string& word : request_.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (const int core : request_.cores) CPU_SET(static_cast<std::size_t>(core), &cores);

    Pipe told;
    ran_.go();
    pid_ = ::fork();
    if (pid_ < 0)
      throw std::system_error(errno, std::generic_category(), "a process for a program");
    if (pid_ == 0) {
      become(words.data(), request_.cores.empty() ? nullptr : &cores, out_, err_, told.write);
    }
    ::setpgid(pid_, pid_);  // whoever is first
    out_.close_write();
    err_.close_write();
    told.close_write();
    int error = 0;
    if (::read(told.read, &error, sizeof error) != static_cast<ssize_t>(sizeof error)) return;
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    result_.start_error = path_in_quotes(request_.words.front()) +
                          " cannot be run: " + std::generic_category().message(error);
  }

  /// Takes what comes, for `most` at most.
  void look(std::chrono::milliseconds most) {
    std::array<pollfd, 2> files{{{out_.read, POLLIN, 0}, {err_.read, POLLIN, 0}}};
    if (out_ended_) files[0].fd = -1;
    if (err_ended_) files[1].fd = -1;
    ::poll(files.data(), files.size(), static_cast<int>(most.count()));
    if (files[0].revents != 0) out_ended_ = !take(out_.read, result_.output, kMostOutput);
    if (files[1].revents != 0) err_ended_ = !take(err_.read, result_.errors, kMostErrors);
    sample();
  }

  bool take(int file, std::string& text, std::size_t most) {
    std::array<char, 65536> bytes;
    const ssize_t count = ::read(file, bytes.data(), bytes.size());
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count == 0) return false;
    if (&text == &result_.output && !result_.first_output_s) {
      result_.first_output_s = ran_.seconds();
    }
    text.append(bytes.data(), static_cast<std::size_t>(count));
    keep_last(text, most);
    return true;
  }

  void sample() {
    const double now = ran_.seconds();
    if (now < next_sample_s_) return;
    next_sample_s_ = now + between_s_;
    const std::int64_t bytes = rss_of(pid_);
    if (bytes > 0) result_.rss.emplace_back(now, bytes);
    if (result_.rss.size() <= kMostSamples) return;
    std::vector<std::pair<double, std::int64_t>> half;
    for (std::size_t i = 0; i < result_.rss.size(); i += 2) half.push_back(result_.rss[i]);
    result_.rss = std::move(half);
    between_s_ *= 2;
  }

  /// A stop or the timeout ends it: asked first, then not.
  void interrupt() {
    const TimePoint now = clock_.now();
    if (asked_) {
      if (now > *asked_ + kGrace) ::kill(-pid_, SIGKILL);
      return;
    }
    result_.stopped = request_.stop.stop_requested();
    result_.timed_out = !result_.stopped && ran_.seconds() > request_.timeout.count();
    if (!result_.stopped && !result_.timed_out) return;
    asked_ = now;
    ::kill(-pid_, SIGTERM);
  }

  bool has_ended() {
    int status = 0;
    rusage used{};
    if (::wait4(pid_, &status, WNOHANG, &used) != pid_) return false;
    ran_.stop();
    result_.seconds = ran_.seconds();
    result_.rss_peak_bytes = used.ru_maxrss * 1024;
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    ::kill(-pid_, SIGKILL);  // what it left running
    while (!out_ended_) out_ended_ = !take(out_.read, result_.output, kMostOutput);
    while (!err_ended_) err_ended_ = !take(err_.read, result_.errors, kMostErrors);
    pid_ = -1;
    return true;
  }

  const SteadyClock clock_;
  const ChildRequest& request_;
  Pipe out_;
  Pipe err_;
  Stopwatch ran_;
  pid_t pid_ = -1;  ///< above 0: it has not ended
  ChildResult result_;
  bool out_ended_ = false;
  bool err_ended_ = false;
  double next_sample_s_ = 0;
  double between_s_ = 0.1;
  std::optional<TimePoint> asked_;
};

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.find_last_of('\n', end);
  const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
  return printable(text.substr(first, end + 1 - first));
}

}  // namespace

std::string ChildResult::failure() const {
  if (!start_error.empty()) return start_error;
  std::string what;
  if (timed_out) {
    what = "it was ended after " + std::to_string(static_cast<long>(seconds)) + " s, its timeout";
  } else if (signal != 0) {
    what = "it was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  } else if (exit_code != 0) {
    what = "it ended with exit code " + std::to_string(exit_code);
  } else {
    return "";
  }
  const std::string said = last_line(errors);
  return said.empty() ? what : what + ": " + said;
}

ChildResult run_child(const ChildRequest& request) {
  Watch watch(request);
  while (!watch.over()) watch.run(std::chrono::hours(1));
  return watch.take_result();
}

std::vector<ChildResult> run_in_turns(const std::vector<ChildRequest>& requests,
                                      std::chrono::milliseconds turn) {
  std::deque<Watch> watches;
  for (const ChildRequest& request : requests) {
    watches.emplace_back(request);
    if (!watches.back().over()) watches.back().pause();
  }
  const auto over = [](const Watch& watch) { return watch.over(); };
  while (!std::all_of(watches.begin(), watches.end(), over)) {
    for (Watch& watch : watches) {
      if (watch.over()) continue;
      watch.go_on();
      watch.run(turn);
      if (!watch.over()) watch.pause();
    }
  }
  std::vector<ChildResult> results;
  for (Watch& watch : watches) results.push_back(watch.take_result());
  return results;
}

}  // namespace ahead::cli
