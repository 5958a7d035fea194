// What Python writes where JSON has no word for it.
#include "base/python_json.h"

#include <gtest/gtest.h>

namespace ahead {
namespace {

TEST(PythonJson, WhatIsNoNumberBecomesAnEmptyStringOfTheSameLength) {
  EXPECT_EQ(plain_json(R"({"a": NaN})"), R"({"a": "" })");
  EXPECT_EQ(plain_json(R"([Infinity,-Infinity,1])"), R"([""      ,""       ,1])");
}

TEST(PythonJson, StringsStayAsTheyAre) {
  for (const char* text :
       {R"({"NaN": "Infinity"})", R"(["a\"NaN"])", R"(["\\", 1])", R"("NaN)", R"("\)", "", "{}"}) {
    EXPECT_EQ(plain_json(text), text);
  }
}

TEST(PythonJson, AMarkOfByteOrderBecomesBlanks) {
  EXPECT_EQ(plain_json("\xEF\xBB\xBF{}"), "   {}");
}

TEST(PythonJson, PlacesAreCountedFromOne) {
  EXPECT_EQ(place_in("ab\ncd", 0), "line 1, column 1");
  EXPECT_EQ(place_in("ab\ncd", 4), "line 2, column 2");
  EXPECT_EQ(place_in("ab\ncd", 3), "line 2, column 1");
  EXPECT_EQ(place_in("ab", 100), "line 1, column 3");
}

}  // namespace
}  // namespace ahead
