// Makes a campaign's runs, one after the other or those of a block in turns, and keeps them as they
// end. May use: base.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/journal.h"
#include "lab/time_left.h"

namespace ahead::lab {

/// Makes runs: in a campaign, processes.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Makes `runs`, of one block and set, at once: most often there is one. One that failed says so
  /// in RunRecord::error. None where a stop was requested before they ended: then none was made.
  [[nodiscard]] virtual std::optional<std::vector<RunRecord>> run(
      const std::vector<RunKey>& runs) = 0;
};

/// Where lines go that must not be lost.
class JournalWriter {
 public:
  virtual ~JournalWriter() = default;
  /// The lines are kept when it returns. Throws Error(kIo).
  virtual void append(const std::string& lines) = 0;
};

/// Where a campaign stands, before a run (`failed` then tells of the one before) and at its end.
struct Standing {
  std::size_t made = 0;
  std::size_t wanted = 0;
  std::optional<RunKey> next;  ///< none at the end
  std::optional<double> seconds_left;
  std::string failed;  ///< why the run before failed; empty: it did not
};

struct Conduct {
  std::vector<RunKey> runs;    ///< all of the campaign
  std::vector<TimedRun> made;  ///< of them, before
  bool in_turns = false;       ///< those of a block and set are made at once
  std::stop_token stop = {};
  std::function<void(const Standing&)> tell;
};

/// Makes the runs that are not made. False where the stop came first.
bool conduct(const Conduct& campaign, Runner& runner, JournalWriter& journal);

/// Seconds that a run took, as the lab saw its process; 0 where it does not say.
[[nodiscard]] double seconds_of(const RunRecord& run);

}  // namespace ahead::lab
