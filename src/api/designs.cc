// The table of presets: the only place that knows their names. May use: base, include/ahead.
#include <array>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/error.h"
#include "api/wording.h"
#include "base/check.h"
#include "base/printable.h"

namespace ahead {
namespace {

// Baselines first; the last entry is the default.
constexpr std::array kDesigns = {
    Design{.name = "b0",
           .summary = "one program for the last rung, compiled before the first token",
           .last_rung_only = true,
           .schedule = Schedule::kEager,
           .kv = KvPolicy::kSharedMax,
           .partition = Partition::kWhole},
    Design{.name = "b1",
           .summary = "the whole ladder compiled before the first token, one full-size KV buffer",
           .last_rung_only = false,
           .schedule = Schedule::kEager,
           .kv = KvPolicy::kSharedMax,
           .partition = Partition::kWhole},
    Design{.name = "i1",
           .summary = "the whole ladder compiled before the first token, KV sized to the rung",
           .last_rung_only = false,
           .schedule = Schedule::kEager,
           .kv = KvPolicy::kCopyGrow,
           .partition = Partition::kWhole},
    Design{.name = "i2",
           .summary = "the next rung compiles behind decoding, KV sized to the rung",
           .last_rung_only = false,
           .schedule = Schedule::kOneAhead,
           .kv = KvPolicy::kCopyGrow,
           .partition = Partition::kWhole},
    Design{.name = "i3",
           .summary = "a rung is a small program without weights, KV grows where it lies",
           .last_rung_only = false,
           .schedule = Schedule::kPlanned,
           .kv = KvPolicy::kInPlace,
           .partition = Partition::kAttention},
};

}  // namespace

std::span<const Design> designs() { return kDesigns; }

const Design& default_design() { return kDesigns.back(); }

const Design& find_design(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Design& design : kDesigns) {
    if (design.name == name) {
      return design;
    }
    names.push_back(design.name);
  }
  throw Error(ErrorKind::kInvalidArgument,
              "design " + in_quotes(name) + " is not known; choose " + api::one_of(names));
}

Axes axes_of(const Design& design, const std::vector<std::int64_t>& ladder) {
  AHEAD_CHECK(!ladder.empty(), "a ladder has rungs");
  Axes axes;
  axes.ladder = design.last_rung_only ? std::vector{ladder.back()} : ladder;
  axes.schedule = design.schedule;
  axes.kv = design.kv;
  axes.partition = design.partition;
  return axes;
}

}  // namespace ahead
