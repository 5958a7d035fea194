// Programs of a forecast: where they stand, what is missing of them, the one compile under way.
// Pure; for forecast.cc. May use: base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/forecast.h"

namespace ahead::plan {

/// Keeps everything that was compiled: a request comes to no rung twice.
class ForecastPrograms {
 public:
  explicit ForecastPrograms(const ForecastInput& input) : input_(input) {}

  [[nodiscard]] Status status(const Need& need) const;

  /// Of what is missing of a program that is absent; what is left of one under way.
  [[nodiscard]] Estimate compile(const Need& need) const;

  /// Of what is left of the compile under way.
  [[nodiscard]] std::optional<double> busy_s() const;
  /// Until it ends beside steps.
  [[nodiscard]] std::optional<double> busy_beside_steps_s() const;

  void start(const Need& need, const std::string& reason, double now_s);

  /// Lets time pass beside steps that end at `now_s`.
  void pass(double seconds, double now_s);

  /// The request waits until the compile under way ends; the seconds that took.
  double wait(double now_s);

  [[nodiscard]] const std::vector<ForecastCompile>& log() const { return log_; }

 private:
  void end(double at_s);
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> shared_key(const Need& need) const;

  const ForecastInput& input_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> ready_;  ///< tier, tokens, rung
  std::set<std::pair<std::int64_t, std::int64_t>> shared_;                ///< by tier and tokens
  std::vector<ForecastCompile> log_;
  bool busy_ = false;  ///< with the last of the log
  double left_s_ = 0;  ///< of it, if it is waited for
};

}  // namespace ahead::plan
