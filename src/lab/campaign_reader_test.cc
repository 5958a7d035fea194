// What a campaign's file may say, and how what it may not is told.
#include "lab/campaign_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ahead/error.h"

namespace ahead::lab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kWhole = R"(name = "quick"
title = "A title"
options = ["--ignore-eos"]
[protocol]
blocks = 5
prompt_tokens = 128
tokens = 900
ladder = [256, 512]
cores = [0, 1]
history = "kept"
file_cache = "cold"
[[set]]
name = "small"
model = "{deps}/model/a.gguf"
[[set]]
name = "large"
model = "b.gguf"
tokens = 100
cores = [0]
values = { steps = "24" }
[[arm]]
name = "i1"
options = ["--design", "i1"]
[[arm]]
name = "peer"
command = ["python3", "{here}/peer.py", "{model}"]
sets = ["large"]
mark = "simulated"
[[endpoint]]
name = "compile"
unit = "s"
value = ["/a", "/b"]
less = "/c"
per = "/d"
scale = 1000
better = "more"
[[comparison]]
from = "i1"
to = "peer"
)";

std::string message(const std::string& text) {
  try {
    static_cast<void>(read_campaign("c.toml", text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

/// The whole campaign with one line changed.
std::string with(const std::string& line, const std::string& other) {
  std::string text = kWhole;
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), other);
}

TEST(CampaignReader, ReadsWhatACampaignSays) {
  const Campaign campaign = read_campaign("c.toml", kWhole);
  EXPECT_EQ(campaign.name, "quick");
  EXPECT_EQ(campaign.protocol.blocks, 5U);
  ASSERT_EQ(campaign.sets.size(), 2U);
  EXPECT_EQ(*campaign.sets[0].protocol.tokens, 900);
  EXPECT_THAT(campaign.sets[0].protocol.cores, ElementsAre(0, 1));
  EXPECT_TRUE(campaign.sets[1].protocol.history);
  EXPECT_TRUE(campaign.sets[1].protocol.cold_file);
  EXPECT_EQ(*campaign.sets[1].protocol.tokens, 100) << "a set's own";
  EXPECT_THAT(campaign.sets[1].protocol.cores, ElementsAre(0));
  EXPECT_EQ(campaign.sets[1].values.at("steps"), "24");
  ASSERT_EQ(campaign.arms.size(), 2U);
  EXPECT_TRUE(campaign.arms[0].runs_in("small"));
  EXPECT_FALSE(campaign.arms[1].runs_in("small"));
  EXPECT_EQ(campaign.arms[1].mark, "simulated");
  ASSERT_EQ(campaign.endpoints.size(), 1U);
  EXPECT_EQ(campaign.endpoints[0].label, "compile");
  EXPECT_THAT(campaign.endpoints[0].value, ElementsAre("/a", "/b"));
  EXPECT_TRUE(campaign.endpoints[0].more_is_better);
  ASSERT_EQ(campaign.comparisons.size(), 1U);
}

TEST(CampaignReader, NamesLineAndKeyOfWhatIsWrong) {
  EXPECT_THAT(message(with("blocks = 5", "blokcs = 5")),
              AllOf(HasSubstr("line 5"), HasSubstr("protocol.blokcs"), HasSubstr("blocks, ")));
  EXPECT_THAT(message(with("blocks = 5", "blocks = 0")),
              AllOf(HasSubstr("line 5"), HasSubstr("is 0"), HasSubstr("from 1 to 1000")));
  EXPECT_THAT(message(with("blocks = 5", "blocks = \"5\"")), HasSubstr("protocol.blocks is '5'"));
  EXPECT_THAT(message(with("tokens = 900", "tokens = 1.5")), HasSubstr("is 1.5"));
  EXPECT_THAT(message(with("history = \"kept\"", "history = \"warm\"")),
              AllOf(HasSubstr("'warm'"), HasSubstr("'none' or 'kept'")));
  EXPECT_THAT(message(with("name = \"large\"", "name = \"small\"")), HasSubstr("is taken"));
  EXPECT_THAT(message(with("name = \"large\"", "name = \"a/b\"")), HasSubstr("no slash"));
  EXPECT_THAT(message(with("model = \"b.gguf\"", "")), HasSubstr("has no model"));
  EXPECT_THAT(message(with("sets = [\"large\"]", "sets = [\"huge\"]")),
              HasSubstr("'huge', which is the name of no set"));
  EXPECT_THAT(message(with("sets = [\"large\"]", "options = [\"-q\"]")),
              HasSubstr("this arm is a command"));
  EXPECT_THAT(message(with("to = \"peer\"", "to = \"pear\"")), HasSubstr("the name of no arm"));
  EXPECT_THAT(message(with("value = [\"/a\", \"/b\"]", "value = \"a\"")),
              HasSubstr("a place in a result is like"));
  EXPECT_THAT(message(with("unit = \"s\"", "")), HasSubstr("endpoint[0] has no unit"));
  EXPECT_THAT(message(with("[protocol]", "[protocol")),
              AllOf(HasSubstr("line 4"), HasSubstr("is no TOML")));
  EXPECT_THAT(message("name = 3"), HasSubstr("it takes a text in quotes"));
  EXPECT_THAT(message(""), HasSubstr("has no name"));
}

// An arm's own clock goes on while others have their turn.
TEST(CampaignReader, InTurnsTimeIsWhatTheLabSeesOfAProcess) {
  const std::string turns = "blocks = 5\nturn_ms = 50";
  EXPECT_THAT(message(with("blocks = 5", turns)),
              AllOf(HasSubstr("'/a'"), HasSubstr("turn_ms"), HasSubstr("/process/seconds")));
  std::string text = with("blocks = 5", turns);
  for (const std::string pointer : {"/a", "/b", "/c", "/d"}) {
    text.replace(text.find("\"" + pointer + "\"") + 1, 2, "/process" + pointer);
  }
  EXPECT_EQ(read_campaign("c.toml", text).protocol.turn, std::chrono::milliseconds(50));
  text.replace(text.find("mark = \"simulated\""), 18, "once = true");
  EXPECT_THAT(message(text), AllOf(HasSubstr("turn_ms"), HasSubstr("once")));
}

TEST(CampaignReader, PairsNeedArmsThatRunInEveryBlock) {
  EXPECT_THAT(message(with("options = [\"--design\", \"i1\"]", "once = true")),
              HasSubstr("runs once"));
}

}  // namespace
}  // namespace ahead::lab
