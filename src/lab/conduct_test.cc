// Campaigns that are stopped and killed, and gone on with.
#include "lab/conduct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>

namespace ahead::lab {
namespace {

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

/// Makes runs, every third of which fails.
class CountingRunner final : public Runner {
 public:
  std::optional<std::vector<RunRecord>> run(const std::vector<RunKey>& runs) override {
    if (stop_before && *stop_before == made.size()) return std::nullopt;
    together.push_back(runs.size());
    std::vector<RunRecord> records;
    for (const RunKey& key : runs) {
      ++made[key];
      records.push_back({.key = key,
                         .error = made.size() % 3 == 0 ? "it failed" : "",
                         .result = {{"process", {{"seconds", 2.0}}}},
                         .curves = Json::object()});
    }
    return records;
  }

  std::map<RunKey, int> made;
  std::vector<std::size_t> together;  ///< how many runs were made at once
  std::optional<std::size_t> stop_before;
};

/// A file that a kill cuts anywhere.
class CutFile final : public JournalWriter {
 public:
  void append(const std::string& line) override {
    if (text.size() + line.size() > most) {
      text += line.substr(0, most - text.size());
      throw Killed();
    }
    text += line;
  }

  std::string text;
  std::size_t most = std::string::npos;
};

Campaign campaign() {
  Campaign campaign;
  campaign.protocol.blocks = 3;
  campaign.sets = {{.name = "s"}, {.name = "t"}};
  campaign.arms = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  return campaign;
}

std::vector<TimedRun> made_in(const Journal& journal) {
  std::vector<TimedRun> made;
  for (const RunRecord& run : journal.runs) made.emplace_back(run.key, seconds_of(run));
  return made;
}

TEST(Conduct, MakesEveryRunOnceAndTellsWhereItStands) {
  CountingRunner runner;
  CutFile file;
  file.text = session_line(Json::object());
  std::vector<Standing> told;
  EXPECT_TRUE(conduct({.runs = runs_of(campaign()),
                       .tell = [&](const Standing& standing) { told.push_back(standing); }},
                      runner, file));
  EXPECT_EQ(read_journal("f", file.text).runs.size(), 18U);
  ASSERT_EQ(told.size(), 19U);
  EXPECT_FALSE(told.front().seconds_left) << "nothing was made yet";
  EXPECT_DOUBLE_EQ(*told[1].seconds_left, 17 * 2);
  EXPECT_EQ(told[3].failed, "s, " + told[2].next->arm + ": it failed");
  EXPECT_EQ(told[1].failed, "");
  EXPECT_FALSE(told.back().next);
}

// A run that was killed before its line was whole is made again; no other is.
TEST(Conduct, KilledAnywhereAndResumedTheRunsAreTheSame) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    bool whole = false;
    int sessions = 0;
    while (!whole) {
      const Journal journal = read_journal("f", text);
      CutFile file;
      file.text = text.substr(0, journal.whole_bytes);
      file.most = file.text.size() + 60 + random() % 900;
      CountingRunner runner;
      try {
        file.append(session_line(Json::object()));
        ++sessions;
        whole = conduct(
            {.runs = runs_of(campaign()), .made = made_in(journal), .tell = [](const Standing&) {}},
            runner, file);
      } catch (const Killed&) {
        whole = false;
      }
      text = file.text;
    }
    const Journal journal = read_journal("f", text);  // would throw of a run that is there twice
    std::vector<RunKey> done;
    for (const RunRecord& run : journal.runs) done.push_back(run.key);
    EXPECT_EQ(done, runs_of(campaign()));
    EXPECT_GT(sessions, 1);
  }
}

// Killed between two lines of a block, what is left of it is made without what was kept.
TEST(Conduct, InTurnsABlockIsMadeAtOnceAndWhatAKillLeftOfItAfterwards) {
  CountingRunner runner;
  CutFile file;
  file.text = session_line(Json::object());
  const std::vector<TimedRun> made = {{runs_of(campaign()).front(), 2.0}};
  EXPECT_TRUE(conduct(
      {.runs = runs_of(campaign()), .made = made, .in_turns = true, .tell = [](const Standing&) {}},
      runner, file));
  EXPECT_THAT(runner.together, testing::ElementsAre(2U, 3U, 3U, 3U, 3U, 3U));
  EXPECT_EQ(read_journal("f", file.text).runs.size(), 17U);
}

TEST(Conduct, AStopLeavesWhatWasMade) {
  CountingRunner runner;
  runner.stop_before = 4;
  CutFile file;
  file.text = session_line(Json::object());
  EXPECT_FALSE(
      conduct({.runs = runs_of(campaign()), .tell = [](const Standing&) {}}, runner, file));
  EXPECT_EQ(read_journal("f", file.text).runs.size(), 4U);
}

}  // namespace
}  // namespace ahead::lab
