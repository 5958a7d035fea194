// See curves.h. May use: nlohmann-json.
#include "lab/curves.h"

#include <cmath>
#include <string>

namespace ahead::lab {
namespace {

constexpr std::size_t kMostSamples = 240;
/// Spans of one name that are no further apart are one.
constexpr double kJoinSeconds = 0.05;

double rounded(double seconds) { return std::round(seconds * 1e5) / 1e5; }

/// Every second one while there are too many; the last stays.
Json thinned(Json list) {
  while (list.size() > kMostSamples) {
    Json half = Json::array();
    for (std::size_t i = 0; i < list.size(); i += 2) half.push_back(list[i]);
    if (list.size() % 2 == 0) half.push_back(list.back());
    list = std::move(half);
  }
  return list;
}

void add_span(const Json& event, Json& timeline) {
  const std::string row = event.value("cat", "");
  const double begin = event.at("ts").get<double>() / 1e6;
  const double end = begin + event.at("dur").get<double>() / 1e6;
  if ((row != "device" && row != "compiler") || end <= begin) return;
  const auto name = event.at("name").get<std::string>();
  if (row == "device" && !timeline.empty()) {
    Json& last = timeline.back();
    if (last[0] == row && last[1] == name && begin - last[3].get<double>() < kJoinSeconds) {
      last[3] = rounded(end);
      return;
    }
  }
  timeline.push_back({row, name, rounded(begin), rounded(end)});
}

void add_sample(const Json& event, double bytes_per_token, Json& kv) {
  const Json& numbers = event.at("args");
  if (!numbers.contains("reserved") || bytes_per_token <= 0) return;
  kv.push_back({rounded(event.at("ts").get<double>() / 1e6),
                std::round(numbers.value("live", 0.0) / bytes_per_token), numbers.at("reserved"),
                numbers.contains("committed") ? numbers.at("committed") : Json()});
}

}  // namespace

Json curves_of(const Json& result, const Json& trace) {
  const Json& model = result.at("model");
  const double wide = model.at("kv_type") == "f16" ? 2 : 4;
  const double bytes_per_token = model.at("kv_values_per_token").get<double>() * wide;
  Json timeline = Json::array();
  Json kv = Json::array();
  for (const Json& event : trace.is_array() ? trace : trace.at("traceEvents")) {
    const std::string phase = event.value("ph", "");
    if (phase == "X") add_span(event, timeline);
    if (phase == "C") add_sample(event, bytes_per_token, kv);
  }
  return {{"timeline", std::move(timeline)}, {"kv", thinned(std::move(kv))}};
}

}  // namespace ahead::lab
