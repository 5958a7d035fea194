// Reports as text, and what a page may not be broken by.
#include "lab/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report_data.h"
#include "lab/report_page.h"

namespace ahead::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Report {
  Report() {
    campaign.name = "c";
    campaign.title = "A </script> title";
    campaign.limits = {"anything else"};
    campaign.protocol.blocks = 2;
    campaign.sets = {{.name = "s"}};
    campaign.arms = {{.name = "a|b"}, {.name = "b", .mark = "simulated"}};
    campaign.endpoints = {{.name = "t", .label = "time", .unit = "s", .value = {"/t"}}};
    campaign.comparisons = {{.from = "a|b", .to = "b"}};
    journal.sessions = {{{"began", "now"}, {"machine", "m"}, {"ahead", "0"}, {"system", "x"}}};
    for (std::size_t block = 0; block < 2; ++block) {
      for (const char* arm : {"a|b", "b"}) {
        journal.runs.push_back({.key = {.block = block, .set = "s", .arm = arm},
                                .result = {{"t", 1234.6 + static_cast<double>(block)}},
                                .curves = {{"rss", Json::array()}}});
      }
    }
    journal.runs.back().error = "exit code 1: \"no\", it said";
    analysis = analyse(campaign, journal);
  }
  Campaign campaign;
  Journal journal;
  Analysis analysis;
};

TEST(ReportText, NumbersHaveThreeDigitsThatMatter) {
  EXPECT_EQ(readable(0), "0");
  EXPECT_EQ(readable(0.012345), "0.0123");
  EXPECT_EQ(readable(1.2345), "1.23");
  EXPECT_EQ(readable(-123.45), "-123");
  EXPECT_EQ(readable(1234567), "1,234,567");
  EXPECT_EQ(readable(-123456), "-123,456");
  EXPECT_EQ(readable(0.00004567), "4.6e-05");
}

TEST(ReportText, MarkdownTellsTablesFailuresAndMarks) {
  const Report report;
  const std::string text = report_markdown(report.campaign, report.journal, report.analysis);
  EXPECT_THAT(text, HasSubstr("| time, s | 1,235 (1,235 to 1,236) | 1,235, 1 failed |"));
  EXPECT_THAT(text, HasSubstr("a\\|b → b: time, s | 1 |"));
  EXPECT_THAT(text, HasSubstr("of one pair, none"));
  EXPECT_THAT(text, HasSubstr("- Not shown: anything else"));
  EXPECT_THAT(text, HasSubstr("`b`: simulated"));
  EXPECT_THAT(text, HasSubstr("- s, block 2, `b`: exit code 1"));
}

TEST(ReportText, CsvQuotesWhatItMust) {
  const Report report;
  const std::string text = report_csv(report.campaign, report.journal);
  EXPECT_THAT(text, HasSubstr("s,1,a|b,t,,s,1234.6,\n"));
  EXPECT_THAT(text, HasSubstr("s,2,b,,,,,\"exit code 1: \"\"no\"\", it said\"\n"));
}

TEST(ReportPage, NothingInItEndsAScript) {
  const Report report;
  const std::string page =
      report_page(report_data(report.campaign, report.journal, report.analysis),
                  {.library = "x('</script>')", .script = "draw()", .style = "p{}"});
  EXPECT_THAT(page, HasSubstr("<title>A &lt;/script> title</title>"));
  EXPECT_THAT(page, HasSubstr("x('<\\/script>')"));
  EXPECT_THAT(page, HasSubstr("A \\u003c/script> title"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
}

}  // namespace
}  // namespace ahead::lab
