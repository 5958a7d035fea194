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
#include "plan/cost_model.h"
#include "plan/planner.h"
#include "plan/schedule.h"
#include "runtime/prospects.h"
#include "runtime/recorder.h"

namespace ahead::runtime {

/// Thrown through a run when the stop token was triggered while waiting.
struct Interrupted {};

/// Decode thread only.
class RequestPrograms {
 public:
  struct Options {
    Schedule schedule = Schedule::kOneAhead;
    std::size_t resident_rungs = 2;  ///< of plan::Residency
    Prospects::Options prospects;    ///< of schedule planned
  };
  struct Dependencies {
    compile::ProgramStore& store;
    Recorder& recorder;
    plan::CostModel& costs;
    const ProgressObserver& progress;  ///< may be empty
    std::stop_token stop;
  };
  RequestPrograms(Options options, Dependencies dependencies);

  /// Whether a compile came to its end since this was asked last: its program may have lost what it
  /// was for.
  [[nodiscard]] bool settled();

  /// Whether anything may have changed since consult() said there was nothing to do. Asked before
  /// every step.
  [[nodiscard]] bool due();

  /// Other programs are in use from now on: what consult() said of the ones before is void.
  void moved() { look_again_ = 0; }

  /// At a token boundary: starts what the schedule wants started; never waits.
  void consult(const plan::Needs& needs, const Standing& standing);

  /// A program that is ready, does the work of the one in use faster, and is worth the change.
  struct Better {
    plan::Need need;
    std::string reason;
  };
  [[nodiscard]] std::optional<Better> better(const plan::Needs& needs, const Standing& standing);

  /// Takes in what the compiles that ended took, and what a step took.
  void learn();
  void learn_step(const graph::ProgramShape& shape, double seconds);

  [[nodiscard]] const Prospects& prospects() const { return prospects_; }

  /// Does what the schedule says until all that the next step needs is settled, and adds the
  /// seconds it waited. Throws Interrupted, and the kept error of a program that failed.
  void settle(const plan::Needs& needs, const Standing& standing, bool at_boundary,
              double& waited_s);

  /// Whether all that the next step needs is there.
  [[nodiscard]] bool ready(const plan::Needs& needs) const;

  /// A settled program. Throws the kept error of one that failed.
  [[nodiscard]] std::shared_ptr<compile::Program> install(const plan::Need& need);

  /// Lets go of programs that neither the rungs in use nor what comes next needs.
  void release_left(const plan::Needs& needs, const Standing& standing);

  /// From now on nothing is compiled up front.
  void first_token() { first_token_out_ = true; }

 private:
  [[nodiscard]] static bool was_for_earlier(const graph::ProgramShape& shape,
                                            const Standing& standing);
  /// What to do, and the program that a start is of.
  struct Step {
    plan::Decision decision;
    plan::Need need;
    bool needed_now = false;
    std::optional<std::int64_t> until_token;
    double expected_stall_s = 0;
  };
  [[nodiscard]] Step decide(const plan::Needs& needs, const Standing& standing,
                            bool switching) const;
  [[nodiscard]] Step decide_by_rule(const plan::Needs& needs, bool switching) const;
  void start(const Step& step);
  void explain(const Step& step);
  void report_background();
  void report(Progress::Kind kind, const graph::ProgramShape& shape, bool foreground,
              double seconds) const;

  const Options options_;
  const Dependencies dependencies_;
  bool first_token_out_ = false;
  std::optional<graph::ProgramShape> background_;  ///< compiling, and nobody waits
  std::optional<graph::ProgramShape> unsettled_;   ///< compiling, when settled() was asked last
  plan::CostModel this_request_;
  Prospects prospects_;
  std::int64_t patience_ = 1;                          ///< decode steps until the next look
  std::int64_t look_again_ = 0;                        ///< steps until the planner is asked again
  std::optional<graph::ProgramShape> seen_compiling_;  ///< when it was asked
  std::string said_;                                   ///< the last thing explained
};

}  // namespace ahead::runtime
