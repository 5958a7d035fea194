// Everything that a world may show, ticked off. May use: include/ahead, and everything of this
// room.
#include "sim/coverage.h"

#include <array>

namespace ahead::sim {
namespace {

constexpr std::array kEnds = {FinishReason::kStop, FinishReason::kMaxTokens, FinishReason::kLength,
                              FinishReason::kCancelled, FinishReason::kError};

}  // namespace

void Coverage::add(const Outcome& outcome) {
  faults_.insert(outcome.fired.begin(), outcome.fired.end());
  if (!outcome.result.rows.empty()) ends_.insert(outcome.result.finish_reason);
  waited_at_boundary_ = waited_at_boundary_ || outcome.result.time_s.boundary_wait > 0;
  fell_back_ = fell_back_ || !outcome.result.kv_fallback.empty();
  helped_ = helped_ || outcome.helped_parts > 0;
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> missing;
  const auto need = [&](bool occurred, const std::string& what) {
    if (!occurred) missing.push_back(what);
  };
  for (const FaultKind kind : fault_kinds()) {
    need(faults_.count(kind) > 0, "fault: " + std::string(to_string(kind)));
  }
  for (const FinishReason reason : kEnds) {
    need(ends_.count(reason) > 0, "end: " + std::string(to_string(reason)));
  }
  need(waited_at_boundary_, "a wait at a boundary");
  need(fell_back_, "a cache that is copied because address space was refused");
  need(helped_, "a part that the helper compiled");
  return missing;
}

}  // namespace ahead::sim
