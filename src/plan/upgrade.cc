// The arithmetic of upgrades: the seconds saved over the tokens left against what it costs to get
// there. May use: base.
#include "plan/upgrade.h"

#include <algorithm>
#include <utility>

#include "plan/phrases.h"

namespace ahead::plan {
namespace {

// What an upgrade costs: decoding beside its compile, and one slower step when it is taken up.
constexpr double kDisturbance = 0.1;  // of its compile
constexpr double kFirstStepS = 0.01;
// It is taken when it saves so much more than that, and the difference is more than noise.
constexpr double kPaysBy = 2;
constexpr double kFaster = 0.03;
constexpr double kGuessesFaster = 1.5;

bool clearly_faster(const Upgrade& upgrade) {
  return upgrade.token_now.typical_s > 0 &&
         upgrade.token.typical_s <= (1 - kFaster) * upgrade.token_now.typical_s;
}

std::string token_times_of(const Upgrade& upgrade) {
  return "a token takes " + in_seconds(upgrade.token.typical_s) + " with it and " +
         in_seconds(upgrade.token_now.typical_s) + " now";
}

/// Whether an upgrade is worth its compile: the seconds it saves, or why not.
struct Verdict {
  double gain_s = 0;
  std::string reason;
  std::string refusal;  ///< empty: it pays
};

/// `reserved` bytes are for the successor.
Verdict judge(const Upgrade& upgrade, const PlannerState& state, std::int64_t reserved) {
  const Estimate& compile = upgrade.program.compile;
  const double now_s = upgrade.token_now.typical_s;
  const std::string would_not_pay = "the faster program would not pay: ";
  if (!clearly_faster(upgrade)) return {.refusal = would_not_pay + token_times_of(upgrade)};
  const bool guesses =
      upgrade.token.source == Source::kGuess && upgrade.token_now.source == Source::kGuess;
  if (guesses && now_s < kGuessesFaster * upgrade.token.typical_s) {
    return {.refusal = would_not_pay + token_times_of(upgrade) + ", and both are guesses"};
  }
  const auto left = static_cast<double>(upgrade.tokens_left);
  const double after = left - compile.late_s / now_s;
  if (after <= 0) {
    return {.refusal = would_not_pay + "it takes up to " + in_seconds(compile.late_s) +
                       ", and the " + in_tokens(left) + " left take " + in_seconds(left * now_s)};
  }
  Verdict verdict{.gain_s = after * (now_s - upgrade.token.typical_s)};
  const double cost_s = kDisturbance * compile.typical_s + kFirstStepS;
  const std::string saves =
      "saves " + in_seconds(verdict.gain_s) + " over the last " + in_tokens(after);
  if (verdict.gain_s <= kPaysBy * cost_s) {
    verdict.refusal = would_not_pay + "it " + saves + " and costs " + in_seconds(cost_s);
  } else if (!fits(upgrade.program.bytes + reserved, state)) {
    verdict.refusal = "the faster program does not fit: it takes " +
                      in_megabytes(upgrade.program.bytes) +
                      (reserved > 0 ? " beside the successor's " + in_megabytes(reserved) : "") +
                      ", and " + in_megabytes(*state.bytes_free) + " are free";
  }
  verdict.reason = token_times_of(upgrade) + ": ready in at most " + in_seconds(compile.late_s) +
                   ", it " + saves;
  return verdict;
}

}  // namespace

bool fits(std::int64_t bytes, const PlannerState& state) {
  return !state.bytes_free || bytes <= std::max<std::int64_t>(*state.bytes_free, 0);
}

BestUpgrade best_upgrade(const PlannerState& state, std::int64_t reserved) {
  BestUpgrade best;
  for (std::size_t i = 0; i < state.upgrades.size(); ++i) {
    if (state.upgrades[i].program.status != Status::kAbsent) continue;
    Verdict verdict = judge(state.upgrades[i], state, reserved);
    if (!verdict.refusal.empty()) {
      if (best.refusal.empty()) best.refusal = std::move(verdict.refusal);
    } else if (!best.upgrade || verdict.gain_s > best.gain_s) {
      best.upgrade = i;
      best.gain_s = verdict.gain_s;
      best.reason = std::move(verdict.reason);
    }
  }
  return best;
}

Adoption adopt(const Upgrade& upgrade) {
  if (upgrade.program.status != Status::kReady) return {false, "the faster program is not ready"};
  const auto left = static_cast<double>(std::max<std::int64_t>(upgrade.tokens_left, 0));
  const double gain_s = left * (upgrade.token_now.typical_s - upgrade.token.typical_s);
  const std::string reason = token_times_of(upgrade) + ", with " + in_tokens(left) + " left";
  if (!clearly_faster(upgrade) || gain_s <= kPaysBy * kFirstStepS) {
    return {false, "the ready program would not pay: " + reason};
  }
  return {true, reason + ": that saves " + in_seconds(gain_s)};
}

}  // namespace ahead::plan
