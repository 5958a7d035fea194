// Makes a campaign's runs one after the other and keeps each as it ends. May use: base.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/journal.h"
#include "lab/time_left.h"

namespace ahead::lab {

/// Makes a run: in a campaign, a process.
class Runner {
 public:
  virtual ~Runner() = default;
  /// A run that failed says so in RunRecord::error. None where a stop was requested before it
  /// ended: then it was not made.
  [[nodiscard]] virtual std::optional<RunRecord> run(const RunKey& key) = 0;
};

/// Where lines go that must not be lost.
class JournalWriter {
 public:
  virtual ~JournalWriter() = default;
  /// The line is kept when it returns. Throws Error(kIo).
  virtual void append(const std::string& line) = 0;
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
  std::stop_token stop = {};
  std::function<void(const Standing&)> tell;
};

/// Makes the runs that are not made. False where the stop came first.
bool conduct(const Conduct& campaign, Runner& runner, JournalWriter& journal);

/// Seconds that a run took, as the lab saw its process; 0 where it does not say.
[[nodiscard]] double seconds_of(const RunRecord& run);

}  // namespace ahead::lab
