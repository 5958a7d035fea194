// Which runs a campaign consists of, and in which order. Pure. May use: std.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "lab/campaign.h"

namespace ahead::lab {

/// One run: in a block every arm of a set runs once.
struct RunKey {
  std::size_t block = 0;  ///< from 0
  std::string set;
  std::string arm;

  friend auto operator<=>(const RunKey&, const RunKey&) = default;
};

/// All runs in order: block by block, in it set by set, in a set the arms in the order of a
/// Williams design (williams.h), whose sequences the blocks go through; arms that run once come
/// last in the first block.
[[nodiscard]] std::vector<RunKey> runs_of(const Campaign& campaign);

/// Those of `runs` that are not `done`, in their order.
[[nodiscard]] std::vector<RunKey> remaining(const std::vector<RunKey>& runs,
                                            const std::vector<RunKey>& done);

}  // namespace ahead::lab
