// What occurred in the worlds of many seeds, so that it is seen when something no longer does.
// May use: include/ahead, and everything of this room.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "sim/run.h"
#include "sim/scenario.h"

namespace ahead::sim {

class Coverage {
 public:
  void add(const Outcome& outcome);

  /// What a few thousand worlds show and these did not, in words; empty when all of it occurred.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  std::set<FaultKind> faults_;
  std::set<FinishReason> ends_;
  bool waited_at_boundary_ = false;
  bool fell_back_ = false;
  bool helped_ = false;
};

}  // namespace ahead::sim
