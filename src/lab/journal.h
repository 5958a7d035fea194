// What a campaign's runs left: a file of JSON lines, appended to as they end. May use: base,
// include/ahead, nlohmann-json.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lab/run_plan.h"

namespace ahead::lab {

using Json = nlohmann::ordered_json;

/// One run, whatever became of it.
struct RunRecord {
  RunKey key;
  std::string error;        ///< empty: it did what it should
  std::size_t session = 0;  ///< the number of the session it was made in, from 0
  Json result;              ///< what the program told, and "process": what was seen of it
  Json curves;              ///< "timeline", "kv" and "rss", where there are any

  [[nodiscard]] bool failed() const { return !error.empty(); }
};

/// The line of a run, with its line end.
[[nodiscard]] std::string line_of(const RunRecord& run);

/// The line of a session: one call of `ahead lab run`, with what was the same for all of its runs
/// (campaign, machine, versions, commit).
[[nodiscard]] std::string session_line(const Json& facts);

struct Journal {
  std::vector<Json> sessions;
  std::vector<RunRecord> runs;
  /// Bytes of whole lines. What stands behind them is a line that was cut, as a killed process
  /// leaves it: to be dropped, its run made again.
  std::size_t whole_bytes = 0;
};

/// Throws Error(kInvalidArgument) that names `path` and the line where one in the middle is no line
/// of a journal, and where a run stands there twice.
[[nodiscard]] Journal read_journal(const std::string& path, std::string_view text);

}  // namespace ahead::lab
