// What the default for cores is, by what a process may use. May use: plan, base.
#include "plan/cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ahead::plan {
namespace {

using testing::HasSubstr;
using testing::Not;
using Cores = std::vector<int>;

/// Cores without a second thread.
std::vector<CpuCore> plain(int count, int first = 0) {
  std::vector<CpuCore> cores;
  for (int core = first; core < first + count; ++core) cores.push_back({core, core});
  return cores;
}

/// A query step by step: GCC 12 warns of the members that a braced one leaves out.
CoreQuery query_of(std::vector<CpuCore> cores, std::optional<double> quota = {}, Cores device = {},
                   Cores compile = {}) {
  CoreQuery query;
  query.limits.cores = std::move(cores);
  query.limits.quota_cores = quota;
  query.device_cores = std::move(device);
  query.compile_cores = std::move(compile);
  return query;
}

/// Two threads a core, numbered as Linux does: core i has i and i + physical.
std::vector<CpuCore> twin(int physical) {
  std::vector<CpuCore> cores = plain(physical);
  for (int core = 0; core < physical; ++core) cores.push_back({core + physical, core});
  return cores;
}

Cores range(int first, int end) {
  Cores cores;
  for (int core = first; core < end; ++core) cores.push_back(core);
  return cores;
}

struct Row {
  std::string name;
  std::vector<CpuCore> cores;
  std::optional<double> quota;
  bool compiles_beside = true;
  // Wanted.
  int reading = 1;
  Cores device;
  Cores compile;
};

class DefaultCores : public testing::TestWithParam<Row> {};

TEST_P(DefaultCores, AreAsTheTableSays) {
  const Row& row = GetParam();
  CoreQuery query = query_of(row.cores, row.quota);
  query.compiles_beside = row.compiles_beside;
  query.limits.wide_vectors = true;
  const CoreChoice choice = choose_cores(query);
  EXPECT_EQ(choice.reading_threads, row.reading);
  EXPECT_EQ(choice.decoding_threads, 1);
  EXPECT_EQ(choice.device_cores, row.device);
  EXPECT_EQ(choice.compile_cores, row.compile);
  EXPECT_FALSE(choice.reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, DefaultCores,
    testing::Values(
        Row{"one", plain(1), {}, true, 1, {0}, {0}}, Row{"two", plain(2), {}, true, 2, {0, 1}, {1}},
        Row{"two_and_no_compile", plain(2), {}, false, 2, {0, 1}, {1}},
        Row{"three", plain(3), {}, true, 3, {0, 1, 2}, {1, 2}},
        Row{"four_leave_one_to_compiles", plain(4), {}, true, 3, {0, 1, 2}, {1, 2, 3}},
        Row{"four_and_no_compile", plain(4), {}, false, 4, {0, 1, 2, 3}, {1, 2, 3}},
        Row{"eight", plain(8), {}, true, 7, range(0, 7), range(1, 8)},
        Row{"sixty_four", plain(64), {}, true, 63, range(0, 63), range(1, 64)},
        // Cores that a set leaves: the numbers need not begin at 0.
        Row{"set_of_two", plain(2, 6), {}, true, 2, {6, 7}, {7}},
        Row{"set_of_one", plain(1, 5), {}, true, 1, {5}, {5}},
        // Two threads of one core are one core for arithmetic; a compile goes elsewhere.
        Row{"one_core_of_two_threads", twin(1), {}, true, 1, {0}, {1}},
        Row{"two_cores_of_two_threads", twin(2), {}, true, 2, {0, 1}, {1, 3}},
        Row{"four_cores_of_two_threads", twin(4), {}, true, 3, {0, 1, 2}, {1, 2, 3, 5, 6, 7}},
        // A control group that gives less than the cores are.
        Row{"quota_of_one", plain(8), 1.0, true, 1, {0}, range(1, 8)},
        Row{"quota_of_a_half", plain(8), 0.5, true, 1, {0}, range(1, 8)},
        Row{"quota_of_one_and_a_half", plain(8), 1.5, true, 2, {0, 1}, range(1, 8)},
        Row{"quota_of_four", plain(8), 4.0, true, 4, {0, 1, 2, 3}, range(1, 8)},
        Row{"quota_above_the_cores", plain(2), 16.0, true, 2, {0, 1}, {1}},
        Row{"quota_that_is_no_limit", plain(2), 1e300, true, 2, {0, 1}, {1}}),
    [](const auto& tested) { return tested.param.name; });

TEST(ChosenCores, WhereVectorsAreNarrowTwoThreadsDecode) {
  struct Case {
    int cores;
    std::optional<double> quota;
    int reading;
    int decoding;
    Cores compile;
  };
  for (const Case& row :
       {Case{1, {}, 1, 1, {0}}, Case{2, {}, 2, 2, {0, 1}}, Case{4, {}, 3, 2, {2, 3}},
        Case{8, {}, 7, 2, range(2, 8)}, Case{64, {}, 63, 2, range(2, 64)},
        Case{8, 1.0, 1, 1, range(1, 8)}, Case{8, 2.0, 2, 2, range(2, 8)}}) {
    const CoreChoice choice = choose_cores(query_of(plain(row.cores), row.quota));
    EXPECT_EQ(choice.reading_threads, row.reading) << row.cores;
    EXPECT_EQ(choice.decoding_threads, row.decoding) << row.cores;
    EXPECT_EQ(choice.compile_cores, row.compile) << row.cores;
  }
}

TEST(ChosenCores, ProgramsThatReadAndDecodeHaveOneCountAndSaySo) {
  CoreQuery query = query_of(plain(8));
  query.limits.wide_vectors = true;
  query.decodes_apart = false;
  const CoreChoice choice = choose_cores(query);
  EXPECT_EQ(choice.reading_threads, 7);
  EXPECT_EQ(choice.decoding_threads, 7);
  EXPECT_THAT(choice.reason, HasSubstr("the same programs"));
}

TEST(ChosenCores, ThreadsThatDoNotPayAreNotTaken) {
  CoreQuery query = query_of(plain(8));
  query.gain = ThreadGain{.reading = 0.8, .decoding = 0.8};
  CoreChoice choice = choose_cores(query);
  EXPECT_EQ(choice.reading_threads, 1);
  EXPECT_EQ(choice.device_cores, Cores{0});
  query.gain = ThreadGain{.reading = 0.8, .decoding = 1.3};
  choice = choose_cores(query);
  EXPECT_EQ(choice.reading_threads, 1);
  EXPECT_EQ(choice.decoding_threads, 2);
  EXPECT_EQ(choice.device_cores, (Cores{0, 1}));
  EXPECT_EQ(choice.compile_cores, range(2, 8));
}

TEST(ChosenCores, NamedOnesAreTakenAsTheyAre) {
  CoreQuery query = query_of(plain(4), 1.0, {2, 3});
  CoreChoice choice = choose_cores(query);
  EXPECT_EQ(choice.device_cores, (Cores{2, 3}));
  EXPECT_EQ(choice.reading_threads, 2);
  EXPECT_EQ(choice.decoding_threads, 2);
  EXPECT_EQ(choice.compile_cores, (Cores{0, 1}));
  query.compile_cores = {3};
  EXPECT_EQ(choose_cores(query).compile_cores, Cores{3});
  query.compile_cores.clear();
  query.device_cores = {0, 1, 2, 3};
  EXPECT_EQ(choose_cores(query).compile_cores, (Cores{0, 1, 2, 3}));
}

TEST(ChosenCores, ACompilesCoresCanBeNamedAlone) {
  const CoreChoice choice = choose_cores(query_of(plain(2), {}, {}, {0, 1}));
  EXPECT_EQ(choice.reading_threads, 2);
  EXPECT_EQ(choice.compile_cores, (Cores{0, 1}));
}

TEST(ChosenCores, WhatTheSystemDoesNotTellIsOneThreadAndNoPinning) {
  const CoreChoice choice = choose_cores({});
  EXPECT_EQ(choice.reading_threads, 1);
  EXPECT_EQ(choice.decoding_threads, 1);
  EXPECT_TRUE(choice.device_cores.empty());
  EXPECT_TRUE(choice.compile_cores.empty());
  EXPECT_FALSE(choice.reason.empty());
}

TEST(ChosenCores, TheReasonNamesWhatDecided) {
  EXPECT_THAT(choose_cores(query_of(plain(8), 1.5)).reason, HasSubstr("quota of 1.5 cores"));
  EXPECT_THAT(choose_cores(query_of(plain(8), 1.5)).reason, Not(HasSubstr("left to compiles")));
  EXPECT_THAT(choose_cores(query_of(plain(8))).reason, HasSubstr("left to compiles"));
  CoreQuery wide = query_of(plain(2));
  wide.limits.wide_vectors = true;
  EXPECT_THAT(choose_cores(wide).reason, HasSubstr("a second thread slows decoding"));
  EXPECT_THAT(choose_cores(query_of(plain(2), {}, {1})).reason, HasSubstr("named"));
}

}  // namespace
}  // namespace ahead::plan
