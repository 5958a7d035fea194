// See conduct.h. May use: base.
#include "lab/conduct.h"

#include <utility>

namespace ahead::lab {

double seconds_of(const RunRecord& run) {
  const auto process = run.result.find("process");
  return process == run.result.end() ? 0 : process->value("seconds", 0.0);
}

bool conduct(const Conduct& campaign, Runner& runner, JournalWriter& journal) {
  std::vector<TimedRun> made = campaign.made;
  std::vector<RunKey> done;
  for (const auto& [run, seconds] : made) done.push_back(run);
  std::vector<RunKey> left = remaining(campaign.runs, done);
  std::string failed;
  while (!left.empty()) {
    campaign.tell({.made = campaign.runs.size() - left.size(),
                   .wanted = campaign.runs.size(),
                   .next = left.front(),
                   .seconds_left = time_left(left, made),
                   .failed = failed});
    if (campaign.stop.stop_requested()) return false;
    const std::optional<RunRecord> run = runner.run(left.front());
    if (!run) return false;
    journal.append(line_of(*run));
    failed = run->failed() ? run->key.set + ", " + run->key.arm + ": " + run->error : "";
    made.emplace_back(run->key, seconds_of(*run));
    left.erase(left.begin());
  }
  campaign.tell({.made = campaign.runs.size(),
                 .wanted = campaign.runs.size(),
                 .next = std::nullopt,
                 .seconds_left = 0,
                 .failed = failed});
  return true;
}

}  // namespace ahead::lab
