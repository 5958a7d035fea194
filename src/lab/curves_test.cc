// A trace made small.
#include "lab/curves.h"

#include <gtest/gtest.h>

namespace ahead::lab {
namespace {

const Json kModel{{"model", {{"kv_type", "f16"}, {"kv_values_per_token", 100}}}};

Json span(const char* row, const char* name, double begin_s, double end_s) {
  return {{"ph", "X"},
          {"cat", row},
          {"name", name},
          {"ts", begin_s * 1e6},
          {"dur", (end_s - begin_s) * 1e6}};
}

TEST(Curves, DecodeSpansThatFollowEachOtherAreJoined) {
  const Json trace{{"traceEvents",
                    {span("device", "decode@64", 1, 2), span("compiler", "decision", 2, 2),
                     span("device", "decode@64", 2.01, 3), span("device", "decode@128", 3, 4),
                     span("compiler", "decode@128", 1, 3), span("kv", "64 to 128", 3, 3.1)}}};
  EXPECT_EQ(curves_of(kModel, trace).at("timeline"),
            Json::parse(R"([["device","decode@64",1.0,3.0],["device","decode@128",3.0,4.0],
                            ["compiler","decode@128",1.0,3.0]])"));
}

TEST(Curves, TheCacheIsToldByLiveTokens) {
  const Json trace =
      Json::array({{{"ph", "C"}, {"ts", 5e5}, {"args", {{"reserved", 4000}, {"live", 600}}}},
                   {{"ph", "C"},
                    {"ts", 1e6},
                    {"args", {{"reserved", 8000}, {"live", 5000}, {"committed", 9}}}}});
  EXPECT_EQ(curves_of(kModel, trace).at("kv"),
            Json::parse("[[0.5,3.0,4000,null],[1.0,25.0,8000,9]]"));
}

TEST(Curves, ManySamplesAreThinnedAndTheLastStays) {
  Json trace = Json::array();
  for (int i = 0; i < 1000; ++i) {
    trace.push_back({{"ph", "C"}, {"ts", i * 1e6}, {"args", {{"reserved", i}, {"live", 0}}}});
  }
  const Json kv = curves_of(kModel, trace).at("kv");
  EXPECT_LE(kv.size(), 250U);
  EXPECT_GE(kv.size(), 100U);
  EXPECT_EQ(kv.back()[2], 999);
}

}  // namespace
}  // namespace ahead::lab
