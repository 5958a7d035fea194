// Tests of the trace against Chrome's trace event format. May use: include/ahead, GoogleTest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/run_result.h"

namespace ahead {
namespace {

using Json = nlohmann::ordered_json;

Json trace_of(std::vector<TraceEvent> events) {
  RunResult result;
  result.trace = std::move(events);
  return Json::parse(to_chrome_trace(result));
}

TraceEvent span(std::string row, std::string name, double begin_s, double end_s) {
  TraceEvent event;
  event.row = std::move(row);
  event.name = std::move(name);
  event.begin_s = begin_s;
  event.end_s = end_s;
  return event;
}

std::vector<Json> of_phase(const Json& trace, const std::string& phase) {
  std::vector<Json> out;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) {
      out.push_back(event);
    }
  }
  return out;
}

std::map<int, std::string> thread_names(const Json& trace) {
  std::map<int, std::string> names;
  for (const Json& event : of_phase(trace, "M")) {
    if (event["name"] == "thread_name") {
      names[event["tid"]] = event["args"]["name"];
    }
  }
  return names;
}

TEST(ChromeTrace, RowsAreNamedInOrderEvenWhenTheyAreEmpty) {
  const Json trace = trace_of({});
  EXPECT_EQ(thread_names(trace),
            (std::map<int, std::string>{{1, "device"}, {2, "compiler"}, {3, "kv"}}));
  int processes = 0;
  std::map<int, int> order;
  for (const Json& event : of_phase(trace, "M")) {
    processes += event["name"] == "process_name" ? 1 : 0;
    if (event["name"] == "thread_sort_index") {
      order[event["tid"]] = event["args"]["sort_index"];
    }
  }
  EXPECT_EQ(processes, 1);
  ASSERT_EQ(order.size(), 3U);
  EXPECT_LT(order[1], order[2]);
  EXPECT_LT(order[2], order[3]);
}

TEST(ChromeTrace, ASpanIsACompleteEventInMicroseconds) {
  const Json trace = trace_of({{.row = "compiler",
                                .name = "compile decode@2048",
                                .begin_s = 1.5,
                                .end_s = 2.25,
                                .numbers = {{"rung", 2048}},
                                .notes = {{"reason", "one ahead"}}}});
  const auto spans = of_phase(trace, "X");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0]["name"], "compile decode@2048");
  EXPECT_EQ(thread_names(trace)[spans[0]["tid"]], "compiler");
  EXPECT_DOUBLE_EQ(spans[0]["ts"].get<double>(), 1.5e6);
  EXPECT_DOUBLE_EQ(spans[0]["dur"].get<double>(), 0.75e6);
  EXPECT_EQ(spans[0]["args"]["rung"], 2048);
  EXPECT_EQ(spans[0]["args"]["reason"], "one ahead");
}

TEST(ChromeTrace, ACounterHasNumbersOnlyAndNoDuration) {
  const Json trace = trace_of({{.row = "kv",
                                .name = "kv bytes",
                                .begin_s = 0.5,
                                .counter = true,
                                .numbers = {{"reserved", 4096}},
                                .notes = {{"policy", "x"}}}});
  const auto counters = of_phase(trace, "C");
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0]["args"], (Json{{"reserved", 4096}}));
  EXPECT_DOUBLE_EQ(counters[0]["ts"].get<double>(), 0.5e6);
  EXPECT_FALSE(counters[0].contains("dur"));
}

TEST(ChromeTrace, ARowNobodyNamedComesAfterTheKnownOnes) {
  const Json trace = trace_of({span("planner", "decide", 0, 1), span("kv", "copy", 0, 1)});
  EXPECT_EQ(thread_names(trace).at(4), "planner");
  EXPECT_EQ(of_phase(trace, "X")[1]["tid"], 3);
}

TEST(ChromeTrace, TimesStayFiniteAndLengthsNotNegative) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TraceEvent unplaced = span("device", "nowhere", nan, nan);
  unplaced.numbers = {{"x", nan}};
  const Json trace = trace_of({
      span("device", "backwards", 2, 1),
      unplaced,
      span("device", "early", -1, 1),
  });
  for (const Json& span : of_phase(trace, "X")) {
    ASSERT_TRUE(span["ts"].is_number()) << span;
    ASSERT_TRUE(span["dur"].is_number()) << span;
    EXPECT_GE(span["ts"].get<double>(), 0) << span;
    EXPECT_GE(span["dur"].get<double>(), 0) << span;
    EXPECT_FALSE(span["args"].contains("x"));
  }
}

TEST(ChromeTrace, BytesThatAreNotUtf8AreReplaced) {
  const Json trace = trace_of({span("device", "a\xFF", 0, 1)});
  EXPECT_EQ(of_phase(trace, "X")[0]["name"], "a\uFFFD");
}

}  // namespace
}  // namespace ahead
