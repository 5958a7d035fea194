// Tests of --explain's sentences. May use: include/ahead, GoogleTest.
#include "explain.h"

#include <gtest/gtest.h>

namespace ahead::cli {
namespace {

TraceEvent decision(double at_s, std::string what, std::string reason) {
  return {.row = "compiler",
          .name = std::move(what),
          .begin_s = at_s,
          .end_s = at_s,
          .notes = {{"reason", std::move(reason)}}};
}

TEST(Explain, ADecisionIsASentence) {
  RunResult result;
  result.trace = {decision(0, "start prefill@1024", "the next step needs it"),
                  decision(12.345, "hold", "the successor is needed in 9 s")};
  EXPECT_EQ(explain(result),
            "   0.00 s  start prefill@1024, because the next step needs it.\n"
            "  12.35 s  hold, because the successor is needed in 9 s.\n");
}

TEST(Explain, SpansAndCountersAreNoDecisions) {
  RunResult result;
  result.trace = {{.row = "device", .name = "decode@64", .begin_s = 1, .end_s = 2},
                  {.row = "compiler",
                   .name = "decode@64",
                   .begin_s = 1,
                   .end_s = 2,
                   .notes = {{"reason", "the next step needs it"}}},
                  {.row = "kv", .name = "KV bytes", .begin_s = 1, .end_s = 1, .counter = true}};
  EXPECT_EQ(explain(result), "");
}

TEST(Explain, LineBreaksInAReasonAreNone) {
  RunResult result;
  result.trace = {decision(1, "stop", "a\ncause")};
  EXPECT_EQ(explain(result), "   1.00 s  stop, because a cause.\n");
}

}  // namespace
}  // namespace ahead::cli
