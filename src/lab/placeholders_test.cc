// Names in braces.
#include "lab/placeholders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ahead/error.h"

namespace ahead::lab {
namespace {

TEST(Placeholders, StandForValues) {
  EXPECT_EQ(expand("{here}/x{n}{n}", {{"here", "/c"}, {"n", "1"}}), "/c/x11");
  EXPECT_EQ(expand("{{\"a\"}", {}), "{\"a\"}");
  EXPECT_EQ(expand("", {}), "");
}

TEST(Placeholders, OneThatIsUnknownIsNamed) {
  for (const char* text : {"a{gone}", "{", "{here"}) {
    try {
      static_cast<void>(expand(text, {{"here", "/c"}}));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("it has here"));
    }
  }
}

TEST(Placeholders, ASetsValues) {
  Set set{.name = "s", .model = "{deps}/m.gguf", .values = {{"ir", "{here}/ir"}}};
  set.protocol.cores = {0, 1};
  set.protocol.ladder = {256, 512};
  set.protocol.tokens = 9;
  const auto values = values_of(set, {.here = "/c", .deps = "/d", .ahead = "/a"});
  EXPECT_EQ(values.at("model"), "/d/m.gguf");
  EXPECT_EQ(values.at("ir"), "/c/ir");
  EXPECT_EQ(values.at("cores"), "0,1");
  EXPECT_EQ(values.at("threads"), "2");
  EXPECT_EQ(values.at("ladder"), "256,512");
  EXPECT_EQ(values.at("tokens"), "9");
  EXPECT_FALSE(values.contains("prompt_tokens"));
}

}  // namespace
}  // namespace ahead::lab
