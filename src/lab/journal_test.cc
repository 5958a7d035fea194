// What a killed campaign leaves behind, read again.
#include "lab/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ahead/error.h"

namespace ahead::lab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

RunRecord run(std::size_t block, const std::string& arm) {
  return {.key = {.block = block, .set = "s", .arm = arm},
          .error = block == 1 ? "it ended with exit code 1" : "",
          .result = {{"x", 1.5}},
          .curves = Json::object()};
}

const std::string kText =
    session_line({{"machine", "m"}}) + line_of(run(0, "a")) + line_of(run(1, "a"));

std::string message(const std::string& text) {
  try {
    static_cast<void>(read_journal("runs.jsonl", text));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Journal, WhatIsWrittenIsReadAgain) {
  const Journal journal = read_journal("runs.jsonl", kText);
  ASSERT_EQ(journal.runs.size(), 2U);
  EXPECT_EQ(journal.runs[0].key, run(0, "a").key);
  EXPECT_EQ(journal.runs[0].result.at("x"), 1.5);
  EXPECT_FALSE(journal.runs[0].failed());
  EXPECT_TRUE(journal.runs[1].failed());
  EXPECT_EQ(journal.sessions.size(), 1U);
  EXPECT_EQ(journal.whole_bytes, kText.size());
}

// Wherever a line is cut, the runs before it stand, and the rest is to be dropped.
TEST(Journal, ALineThatWasCutIsNoRun) {
  const std::string third = line_of(run(2, "a"));
  for (std::size_t cut = 0; cut < third.size(); ++cut) {
    const Journal journal = read_journal("runs.jsonl", kText + third.substr(0, cut));
    EXPECT_EQ(journal.runs.size(), 2U);
    EXPECT_EQ(journal.whole_bytes, kText.size());
  }
  EXPECT_EQ(read_journal("runs.jsonl", kText + third).runs.size(), 3U);
}

TEST(Journal, WhatIsNoLineOfAJournalIsNamed) {
  EXPECT_THAT(message(kText + "not json\n" + line_of(run(2, "a"))),
              AllOf(HasSubstr("'runs.jsonl', line 4"), HasSubstr("nothing was changed")));
  EXPECT_THAT(message("{}\n"), HasSubstr("line 1"));
  EXPECT_THAT(message("{\"kind\":\"run\"}\n"), HasSubstr("line 1"));
  EXPECT_THAT(message(line_of(run(0, "a"))), HasSubstr("a run before any session"));
  EXPECT_THAT(message(kText + line_of(run(0, "a"))), HasSubstr("stands further up too"));
}

}  // namespace
}  // namespace ahead::lab
