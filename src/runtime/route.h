// Where a request goes under schedule planned: on which rungs, in which chunks, in which form. Asks
// plan/ with what prospects.h knows, and keeps the answers. Under a fixed schedule the route is the
// ladder, the chunk and the one form there is. May use: base, compile, plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/schedule.h"
#include "runtime/prospects.h"
#include "runtime/recorder.h"
#include "runtime/sequence.h"

namespace ahead::runtime {

/// Decode thread only. Every choice stands on the timeline with its reason.
class Route {
 public:
  struct Options {
    bool planned = false;
    std::vector<std::int64_t> ladder;
    std::int64_t chunk = 1;
    std::optional<std::int64_t> first_chunk;  ///< that the prompt has to begin with
    std::size_t forms = 1;
    bool own_rungs = false;  ///< as of plan::NeedsQuery
  };
  /// Both must outlive it.
  Route(Options options, const Prospects& prospects, Recorder& recorder);

  /// The rungs that were not passed over.
  [[nodiscard]] const std::vector<std::int64_t>& ladder() const { return ladder_; }
  [[nodiscard]] std::int64_t chunk() const { return chunk_; }
  /// The highest that was in use.
  [[nodiscard]] std::int64_t tier() const { return tier_; }
  [[nodiscard]] bool planned() const { return options_.planned; }
  /// Whether a faster form than `tier` can come.
  [[nodiscard]] bool may_rise(std::int64_t tier) const;

  /// Before anything is compiled: on which rung to begin, and how the prompts are read.
  void begin(const std::vector<Sequence>& rows);

  /// Before `need`, a chunk of a prompt, is waited for: whether another chunk is read instead.
  bool choose_chunk(const plan::Need& need);

  /// From a full rung whose successor is late, for a sequence that can come to have `most` rows.
  void choose_rung(std::int64_t live, std::int64_t most);

  /// In which form the decode programs are wanted, once a higher one was in use.
  void choose_tiers(plan::Needs& needs) const;

  /// A faster program is used from now on.
  void take_up(const plan::Need& need, const std::string& reason);

 private:
  const Options options_;
  const Prospects& prospects_;
  Recorder& recorder_;
  std::vector<std::int64_t> ladder_;
  std::int64_t chunk_;
  std::int64_t tier_ = 0;
};

}  // namespace ahead::runtime
