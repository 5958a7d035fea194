// What compiles and steps took so far, and from that what the next will: a table of samples by what
// was compiled or run, with a rule for what is not in it. Pure: reads no clock and no file.
// May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "plan/estimate.h"
#include "plan/schedule.h"

namespace ahead::plan {

/// What was compiled: of a form of the decoder ("attention", "attention/joined") the kinds of parts
/// that were missing ("attention+body"), for one shape.
struct CompileKey {
  std::string form;
  std::string parts;
  Need shape;  ///< its tier says nothing beside the form
};

/// What was run: a chunk of a prompt or a decode step.
struct StepKey {
  std::string form;
  Need shape;
};

/// Samples, oldest first. Plain data: what a file of them holds.
struct History {
  using CompileId = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t>;
  using StepId = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;
  /// By form, parts, tokens, batch, rung.
  std::map<CompileId, std::vector<double>> compiles_s;
  /// By form, tokens, batch, rung.
  std::map<StepId, std::vector<double>> steps_s;

  static constexpr std::size_t kSamples = 24;   ///< kept of each, the newest
  static constexpr std::size_t kEntries = 512;  ///< kept of each table
  /// A sample of this value can be: positive, finite, below an hour.
  [[nodiscard]] static bool plausible(double seconds);

  friend bool operator==(const History&, const History&) = default;
};

/// Not thread-safe: the decode thread's.
class CostModel {
 public:
  explicit CostModel(History history = {});

  /// Implausible samples are dropped. `size` is of what was compiled.
  void compiled(const CompileKey& key, const GraphSize& size, double seconds);
  void stepped(const StepKey& key, double seconds);

  /// Measured; or of the same parts for the shape whose rung is nearest, scaled by less than the
  /// rungs differ; or a guess from `size`, put right by what others of this process took.
  [[nodiscard]] Estimate compile(const CompileKey& key, const GraphSize& size) const;

  /// Of a whole step: measured; or scaled from the nearest rung by what is read; or a guess.
  [[nodiscard]] Estimate step(const StepKey& key, const StepSize& size) const;

  [[nodiscard]] const History& history() const { return history_; }

  /// How far a log of compiles was taken in; kept for whoever does that.
  std::size_t compiles_seen = 0;

 private:
  [[nodiscard]] Estimate guess(const GraphSize& size) const;

  History history_;
  double compiled_s_ = 0;  ///< in this process
  double guessed_s_ = 0;   ///< for the same
};

}  // namespace ahead::plan
