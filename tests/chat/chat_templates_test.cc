// Templates of real models, rendered byte for byte as Jinja2 renders them (make_references.py).
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "references.h"
#include "text/chat_renderer.h"

namespace ahead::text {
namespace {

/// Jinja2 escapes what is added to a text marked as safe, so that this one template writes &#34;
/// for each quote of its tools. The engine has no such texts.
const std::set<std::pair<std::string, std::string>> kKnownToDiffer = {
    {"meetkai-functionary-medium-v3.1", "tools"},
    {"meetkai-functionary-medium-v3.1", "tools, system"},
    {"meetkai-functionary-medium-v3.1", "tools used"},
    {"meetkai-functionary-medium-v3.1", "tool's answer"},
};

class ChatTemplates : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Real, ChatTemplates, testing::ValuesIn(reference_names()),
                         [](const auto& name) {
                           std::string plain = name.param;
                           for (char& c : plain) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return plain;
                         });

TEST_P(ChatTemplates, AreRenderedAsJinja2RendersThem) {
  ::setenv("TZ", "UTC", 1);
  const Json expected = reference(GetParam());
  const auto source = expected.at("template").get<std::string>();
  for (const Json& one : expected.at("cases")) {
    const auto what = one.at("what").get<std::string>();
    SCOPED_TRACE(what);
    if (kKnownToDiffer.contains({GetParam(), what})) continue;
    const std::string values = one.at("context").dump();
    const ChatRendering rendering{
        .values = values, .now = std::chrono::seconds(expected.at("now_s").get<std::int64_t>())};
    try {
      const std::string text = render_chat(source, rendering);
      // Where Python itself fails, on a value of the wrong type, the engine may find a meaning.
      if (one.contains("fails")) continue;
      ASSERT_TRUE(one.contains("text")) << "should be refused: " << one.at("raises");
      EXPECT_EQ(text, one.at("text").get<std::string>());
    } catch (const Error& error) {
      ASSERT_FALSE(one.contains("text")) << error.what();
      if (one.contains("fails")) continue;
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      const std::string wanted = one.at("raises").get<std::string>();
      EXPECT_NE(std::string(error.what()).find(wanted.substr(0, 60)), std::string::npos)
          << error.what();
    }
  }
}

TEST(ChatTemplateCorpus, HasTheFamiliesThatPeopleBring) {
  EXPECT_GE(reference_names().size(), 80U);
  std::size_t texts = 0;
  for (const std::string& name : reference_names()) {
    const Json all = reference(name);
    for (const Json& one : all.at("cases")) texts += one.contains("text") ? 1 : 0;
  }
  EXPECT_GE(texts, 1100U);
}

}  // namespace
}  // namespace ahead::text
