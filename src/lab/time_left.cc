// See time_left.h. May use: std.
#include "lab/time_left.h"

#include <map>
#include <string>

#include "lab/statistics.h"

namespace ahead::lab {

std::optional<double> time_left(const std::vector<RunKey>& left,
                                const std::vector<TimedRun>& made) {
  if (made.empty()) return std::nullopt;
  // By set and arm; an empty name stands for any.
  std::map<std::pair<std::string, std::string>, std::vector<double>> seconds;
  for (const auto& [run, took] : made) {
    for (const auto& key :
         {std::pair(run.set, run.arm), std::pair(std::string(), run.arm),
          std::pair(run.set, std::string()), std::pair(std::string(), std::string())}) {
      seconds[key].push_back(took);
    }
  }
  double sum = 0;
  for (const RunKey& run : left) {
    for (const auto& key :
         {std::pair(run.set, run.arm), std::pair(std::string(), run.arm),
          std::pair(run.set, std::string()), std::pair(std::string(), std::string())}) {
      const auto found = seconds.find(key);
      if (found == seconds.end()) continue;
      sum += median(found->second);
      break;
    }
  }
  return sum;
}

}  // namespace ahead::lab
