// What holds at every event of every run, whatever is slow, fails or is stopped. Knows the rules of
// the schedules, but none of the code that follows them. May use: base, compile, runtime.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/session.h"
#include "sim/machine.h"
#include "sim/scenario.h"
#include "sim/sequence_model.h"
#include "sim/words.h"

namespace ahead::sim {

/// The first rule that was broken.
struct Violation {
  std::string invariant;
  TimePoint at{0};
  std::string detail;
};

/// The names of the rules.
namespace rule {
inline constexpr std::string_view kTokens = "tokens";            ///< none lost, repeated or wrong
inline constexpr std::string_view kPositions = "positions";      ///< contiguous
inline constexpr std::string_view kRung = "rung";                ///< no step on a wrong one
inline constexpr std::string_view kBoundary = "token-boundary";  ///< nothing is replaced in a step
inline constexpr std::string_view kResidency = "residency";      ///< limits are kept
inline constexpr std::string_view kOneCompile = "one-compile";   ///< at most one at a time
inline constexpr std::string_view kAccounts = "accounts";        ///< every second is accounted for
inline constexpr std::string_view kStop = "stop";                ///< ends what it should, at once
inline constexpr std::string_view kEnd = "end";                  ///< as the scenario makes it end
inline constexpr std::string_view kError = "error";              ///< names the fault that caused it
inline constexpr std::string_view kLeak = "leak";                ///< nothing is held at the end
inline constexpr std::string_view kBounded = "bounded";          ///< everything ends
}  // namespace rule

/// Watches one world.
class Invariants final : public Observer {
 public:
  /// `scenario` must outlive it.
  explicit Invariants(const Scenario& scenario);
  /// To be called before anything runs; `machine` must outlive its use.
  void watch(Machine& machine) { machine_ = &machine; }

  void begin_request(const RequestScenario& request, std::stop_token stop);
  [[nodiscard]] runtime::Callbacks callbacks();
  /// The request is over; `thrown`: what it threw, if it did.
  void end_request(const RunResult& result, const std::optional<std::string>& thrown);
  /// The store is gone.
  void end();

  void on_event(const Event& event) override;
  void on_call(const DeviceCall& call) override;

  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }

 private:
  // ---- what happens in a step
  void begin_step(const DeviceCall& call);
  void check_prompt_step(const DeviceCall& call);
  void check_decode_step(const DeviceCall& call);
  void attended(const DeviceCall& call);
  void check_rung(const SequenceModel& row, std::int64_t rung);
  void check_residency();
  std::int32_t choose(const StepLogits& step);
  std::optional<FinishReason> accept(std::int64_t row, std::int32_t token);
  void progress(const Progress& progress);

  // ---- what it comes to
  void check_accounts(const RunResult& result, bool failed);
  void check_boundaries(const RunResult& result);
  void check_compiles(const RunResult& result);
  void check_ends(const RunResult& result, const std::optional<std::string>& thrown);
  void check_error(const std::string& text);
  void check_stop(const RunResult& result);

  /// Keeps the first; the request is told to end.
  void fail(std::string_view invariant, const std::string& detail);
  /// `parts` are put together where the rule is broken.
  template <typename... Parts>
  void require(bool holds, std::string_view invariant, const Parts&... parts) {
    if (!holds) fail(invariant, words(parts...));
  }
  /// Ends the request here where a rule is broken: what follows would only hide it.
  void end_if_broken() const;
  [[nodiscard]] TimePoint now() const { return machine_->timeline().now(); }
  [[nodiscard]] bool prompting() const;
  [[nodiscard]] std::int64_t smallest_above(std::int64_t rows) const;

  const Scenario& scenario_;
  Machine* machine_ = nullptr;
  std::optional<Violation> violation_;

  // Of the request.
  std::vector<SequenceModel> rows_;
  std::stop_token stop_;
  TimePoint begin_{0};
  std::chrono::nanoseconds waited_before_{0};
  std::chrono::nanoseconds caller_{0};  ///< the caller's own work
  TimePoint accounted_{0};              ///< till then every moment belongs to something recorded
  std::optional<TimePoint> first_token_;
  std::map<std::int64_t, std::int64_t> tokens_by_rung_;
  std::size_t compiles_before_ = 0;
  std::int64_t most_steps_ = 0;
  std::int64_t steps_ = 0;
  std::size_t boundaries_ = 0;      ///< that were told of
  std::int64_t steps_unfreed_ = 0;  ///< since every program that was let go of was freed
  struct {
    TimePoint at{0};
    std::int64_t steps = 0;
    std::size_t compiles = 0;
  } stopped_;

  // Of the step under way.
  struct Step {
    bool prompt = false;
    std::size_t calls = 0;
    std::size_t bodies = 0;                        ///< calls of what is cut from the attentions
    const std::byte* positions = nullptr;          ///< of all its sequences
    std::int64_t first = 0;                        ///< a prompt step's first position
    std::int64_t rung = 0;                         ///< likewise
    std::map<std::size_t, std::size_t> artifacts;  ///< that serve a sequence
    std::map<std::size_t, std::int64_t> rungs;     ///< likewise
    bool open = false;
  } step_;
};

}  // namespace ahead::sim
