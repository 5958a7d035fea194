// Measures one request: spans, waits, rungs and memory over time, written into a RunResult.
// May use: base, compile's log.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/run_result.h"
#include "base/clock.h"
#include "compile/program_store.h"

namespace ahead::runtime {

/// Decode thread only. `clock` and `result` must outlive it.
class Recorder {
 public:
  Recorder(const Clock& clock, RunResult& result);

  /// The clock's time, and seconds from the request's begin to it.
  [[nodiscard]] TimePoint now() const { return clock_.now(); }
  [[nodiscard]] double since_begin(TimePoint time) const;

  /// A span of the timeline that ends now.
  void span(std::string_view row, std::string name, TimePoint begin,
            std::vector<std::pair<std::string, double>> numbers = {});

  /// A decision worth seeing on the timeline.
  void decision(std::string name, std::string reason);

  /// The request stood still for a compile from `begin` till now.
  struct Wait {
    graph::ProgramShape shape;
    TimePoint begin{0};
    bool at_boundary = false;
  };
  void waited(const Wait& wait);

  /// A prefill chunk ended now: `tokens` of the prompt, through the program of this shape.
  void prefilled(TimePoint begin, const graph::ProgramShape& shape, std::int64_t tokens);
  /// A decode step ended now; `rungs` has one entry a sequence that took it.
  void stepped(TimePoint begin, const graph::ProgramShape& shape,
               std::span<const std::int64_t> rungs);
  void first_token();
  void boundary(const BoundaryRecord& record, TimePoint begin);

  /// What the cache holds from now on.
  struct Memory {
    std::int64_t reserved_bytes = 0;
    std::int64_t committed_bytes = 0;  ///< negative: the kernel does not tell
    std::int64_t live_bytes = 0;       ///< of rows that hold tokens; grows evenly between samples
  };
  void memory(const Memory& held);

  /// Closes averages and sums; `log` is everything the store compiled, of which compiles that
  /// overlap the request are kept.
  void finish(const std::vector<compile::CompileLog>& log);

 private:
  struct Waited {
    graph::ProgramShape shape;
    TimePoint end{0};
    double seconds = 0;
  };

  /// What a program's runs took, in order.
  using Runs = std::vector<double>;
  void close_first_runs();

  const Clock& clock_;
  RunResult& result_;
  const TimePoint begin_;
  std::map<graph::ProgramShape, Runs> runs_;
  std::vector<Waited> waits_;
  Memory memory_;
  TimePoint memory_begin_{-1};  ///< negative: no cache yet
  TimePoint memory_since_{0};
  double reserved_byte_s_ = 0;
  double committed_byte_s_ = 0;
  double live_byte_s_ = 0;
  /// Decode steps are many: the timeline shows them in runs.
  TimePoint steps_begin_{0};
  TimePoint steps_end_{0};
  std::int64_t steps_ = 0;
  std::int64_t step_tokens_ = 0;
  std::int64_t steps_rung_ = 0;
  void flush_steps();
};

}  // namespace ahead::runtime
