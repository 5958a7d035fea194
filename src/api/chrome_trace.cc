// A run's timeline in Chrome's trace event format: one process, one named row a thread, complete
// events ("X") in microseconds and counters ("C"). May use: include/ahead, nlohmann-json.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "ahead/run_result.h"

namespace ahead {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr std::array<std::string_view, 3> kRows = {"device", "compiler", "kv"};

// A viewer refuses null and draws negative lengths nowhere.
double microseconds(double seconds) {
  return std::isfinite(seconds) ? std::max(seconds, 0.0) * 1e6 : 0.0;
}

// Thread ids count from 1 in the order of the rows: the known ones first, then as they appear.
class Rows {
 public:
  Rows() : names_(kRows.begin(), kRows.end()) {}

  int id(std::string_view row) {
    auto found = std::find(names_.begin(), names_.end(), row);
    if (found == names_.end()) {
      found = names_.insert(names_.end(), std::string(row));
    }
    return static_cast<int>(found - names_.begin()) + 1;
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

Json metadata(std::string_view what, int thread, Json args) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", args}};
}

Json event_object(const TraceEvent& event, int thread) {
  const double begin = microseconds(event.begin_s);
  Json args = Json::object();
  for (const auto& [name, value] : event.numbers) {
    if (std::isfinite(value)) {
      args[name] = value;
    }
  }
  if (!event.counter) {
    for (const auto& [name, note] : event.notes) {
      args[name] = note;
    }
  }
  Json object = {{"name", event.name}, {"cat", event.row}, {"ph", event.counter ? "C" : "X"},
                 {"pid", kProcess},    {"tid", thread},    {"ts", begin}};
  if (!event.counter) {
    object["dur"] = std::max(microseconds(event.end_s) - begin, 0.0);
  }
  object["args"] = std::move(args);
  return object;
}

}  // namespace

std::string to_chrome_trace(const RunResult& result) {
  Rows rows;
  std::vector<Json> spans;
  spans.reserve(result.trace.size());
  for (const TraceEvent& event : result.trace) {
    spans.push_back(event_object(event, rows.id(event.row)));
  }

  Json events = Json::array();
  events.push_back(metadata("process_name", 0, {{"name", "ahead " + std::string(version())}}));
  for (const std::string& row : rows.names()) {
    const int thread = rows.id(row);
    events.push_back(metadata("thread_name", thread, {{"name", row}}));
    events.push_back(metadata("thread_sort_index", thread, {{"sort_index", thread}}));
  }
  std::move(spans.begin(), spans.end(), std::back_inserter(events));

  const Json trace = {
      {"traceEvents", std::move(events)},
      {"displayTimeUnit", "ms"},
      {"otherData",
       {{"design", result.design}, {"device", result.device}, {"model", result.model.path}}}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ahead
