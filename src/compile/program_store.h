// The compile queue and what came of it: programs by shape, at most one compile at a time, on an
// injected executor. Prepare (start) and install happen on the decode thread, execute on the
// executor. May use: base, graph's program_spec.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/program_status.h"
#include "compile/backend.h"
#include "compile/program.h"

namespace ahead::compile {

/// Where a program stands.
using ProgramState = ProgramStatus;

/// What a program still lacks.
struct MissingParts {
  std::string kinds;  ///< "attention+body"; empty when every part is there
  std::int64_t parts = 0;
  std::int64_t operations = 0;
  std::int64_t weight_bytes = 0;
};

/// One compile, under way or ended.
struct CompileLog {
  graph::ProgramShape shape;
  std::string reason;
  TimePoint begin{0};            ///< when it was asked for, until it really begins
  std::optional<TimePoint> end;  ///< none while it is under way
  bool failed = false;
  MissingParts missing;  ///< what it compiled; empty until it really begins
};

/// All calls come from the decode thread.
class ProgramStore {
 public:
  struct Options {
    std::shared_ptr<Backend> backend;
    std::string device;  ///< every artifact must report that it runs there
    /// On the cores of the device, or none where no thread can be had: compiles parts beside the
    /// compile thread while a request waits for their program, as the device has nothing else to do
    /// then. Has one task at most. Must outlive the store.
    Executor* helper = nullptr;
  };
  /// `executor` must outlive the store, `clock` the executor.
  ProgramStore(Options options, Executor& executor, const Clock& clock);
  /// An abandoned compile ends on its own and touches nothing of the store.
  ~ProgramStore();

  [[nodiscard]] ProgramState state(const graph::ProgramShape& shape) const;

  /// What compiling an absent program would have to compile: now, or once `before` is compiled.
  [[nodiscard]] MissingParts missing(
      const graph::ProgramShape& shape,
      const std::optional<graph::ProgramShape>& before = std::nullopt) const;

  /// Of weights in the artifacts that somebody holds, or that are being compiled.
  [[nodiscard]] std::int64_t weight_bytes() const;

  /// The program that is being compiled, if any.
  [[nodiscard]] std::optional<graph::ProgramShape> compiling() const;

  /// When the compile under way began; none is under way, or it is still queued: nothing.
  [[nodiscard]] std::optional<TimePoint> compiling_since() const;

  /// Begins compiling an absent program. Starting a second one meanwhile is a broken invariant.
  void start(const graph::ProgramShape& shape, std::string reason);

  /// Blocks until no compile of `shape` is under way; false when `stop` came first.
  bool wait(const graph::ProgramShape& shape, std::stop_token stop);

  /// The ready program, to be used from now on. Throws the kept error of a failed one:
  /// Error(kCompileFailed | kDevice) naming program and cause.
  [[nodiscard]] std::shared_ptr<Program> install(const graph::ProgramShape& shape);

  /// Lets go of a settled program; nothing happens when it is absent. It is freed on the executor
  /// when it is told to, and before any compile started later; whoever still holds it keeps it
  /// alive.
  void release(const graph::ProgramShape& shape);

  /// Frees one of the released programs, those released first first, unless one is being freed or a
  /// compile is under way. Freeing takes ten milliseconds and more, and slows what runs beside it:
  /// a decoder spreads it over steps.
  void free_one();

  /// Frees all of them.
  void free_released();

  /// Programs that were released and are not freed yet.
  [[nodiscard]] std::size_t released() const;

  /// Programs that are ready or failed.
  [[nodiscard]] std::vector<graph::ProgramShape> settled() const;

  /// Compiles since the store was made, oldest first.
  [[nodiscard]] std::vector<CompileLog> log() const;

 private:
  enum class Free : std::uint8_t { kNothing, kOne, kAll };
  void post_free(Free what);

  struct Shared;
  std::shared_ptr<Shared> shared_;
  Executor& executor_;
};

}  // namespace ahead::compile
