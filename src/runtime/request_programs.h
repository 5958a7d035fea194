// Gets one request the programs it needs: asks plan/ what to do and does it with compile/'s store.
// May use: base, compile, plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "ahead/axes.h"
#include "ahead/generation_config.h"
#include "compile/program_store.h"
#include "plan/schedule.h"
#include "runtime/recorder.h"

namespace ahead::runtime {

/// Thrown through a run when the stop token was triggered while waiting.
struct Interrupted {};

/// The program that a need is for.
[[nodiscard]] graph::ProgramShape shape_of(const plan::Need& need);

/// Decode thread only.
class RequestPrograms {
 public:
  struct Options {
    Schedule schedule = Schedule::kOneAhead;
    std::size_t resident_rungs = 2;  ///< of plan::Residency
  };
  struct Dependencies {
    compile::ProgramStore& store;
    Recorder& recorder;
    const ProgressObserver& progress;  ///< may be empty
    std::stop_token stop;
  };
  RequestPrograms(Options options, Dependencies dependencies);

  /// At a token boundary: starts what the schedule wants started; never waits.
  void consult(const plan::Needs& needs);

  /// Does what the schedule says until all that the next step needs is settled; the seconds it
  /// waited. Throws Interrupted.
  double settle(const plan::Needs& needs, bool at_boundary);

  /// Whether all that the next step needs is there.
  [[nodiscard]] bool ready(const plan::Needs& needs) const;

  /// A settled program. Throws the kept error of one that failed.
  [[nodiscard]] std::shared_ptr<compile::Program> install(const plan::Need& need);

  /// Lets go of programs that neither the rungs in use nor what comes next needs.
  void release_left(const std::vector<std::int64_t>& in_use, const plan::Needs& needs);

  /// From now on nothing is compiled up front.
  void first_token() { first_token_out_ = true; }

 private:
  [[nodiscard]] plan::Decision decide(const plan::Needs& needs, bool switching) const;
  void start(const plan::Needs& needs, const plan::Decision& decision);
  void report_background();
  void report(Progress::Kind kind, const graph::ProgramShape& shape, bool foreground,
              double seconds) const;

  const Options options_;
  const Dependencies dependencies_;
  bool first_token_out_ = false;
  std::optional<graph::ProgramShape> background_;  ///< compiling, and nobody waits
};

}  // namespace ahead::runtime
