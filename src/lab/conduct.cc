// See conduct.h. May use: base.
#include "lab/conduct.h"

#include <cstddef>
#include <utility>

namespace ahead::lab {

double seconds_of(const RunRecord& run) {
  const auto process = run.result.find("process");
  return process == run.result.end() ? 0 : process->value("seconds", 0.0);
}

namespace {

/// What is made next: the first of `left`, and what stands with it.
std::vector<RunKey> next_of(const std::vector<RunKey>& left, bool in_turns) {
  std::vector<RunKey> next;
  for (const RunKey& run : left) {
    const bool together =
        in_turns && run.block == left.front().block && run.set == left.front().set;
    if (!next.empty() && !together) break;
    next.push_back(run);
  }
  return next;
}

}  // namespace

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
    const auto runs = runner.run(next_of(left, campaign.in_turns));
    if (!runs) return false;
    failed.clear();
    std::string lines;
    for (const RunRecord& run : *runs) {
      lines += line_of(run);
      if (run.failed()) failed = run.key.set + ", " + run.key.arm + ": " + run.error;
      made.emplace_back(run.key, seconds_of(run));
    }
    journal.append(lines);
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(runs->size()));
  }
  campaign.tell({.made = campaign.runs.size(),
                 .wanted = campaign.runs.size(),
                 .next = std::nullopt,
                 .seconds_left = 0,
                 .failed = failed});
  return true;
}

}  // namespace ahead::lab
