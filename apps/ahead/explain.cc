// See explain.h. May use: include/ahead, base.
#include "explain.h"

#include <algorithm>

#include "base/printable.h"
#include "wording.h"

namespace ahead::cli {
namespace {

constexpr std::size_t kSeconds = 9;

const std::string* reason_of(const TraceEvent& event) {
  for (const auto& [name, text] : event.notes) {
    if (name == "reason") return &text;
  }
  return nullptr;
}

}  // namespace

std::string explain(const RunResult& result) {
  std::string out;
  for (const TraceEvent& event : result.trace) {
    const std::string* const reason = reason_of(event);
    // A compile's span repeats why it was started.
    if (reason == nullptr || event.begin_s != event.end_s) continue;
    out += right(fixed(event.begin_s, 2) + " s", kSeconds) + "  " + printable(event.name) +
           ", because " + printable(*reason) + ".\n";
  }
  return out;
}

}  // namespace ahead::cli
