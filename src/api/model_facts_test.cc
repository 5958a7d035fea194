// Tests of what a model's cache comes to. May use: include/ahead, GoogleTest.
#include <gtest/gtest.h>

#include "ahead/run_result.h"

namespace ahead {
namespace {

TEST(ModelFacts, WithoutWindowsEveryRowIsKept) {
  const ModelFacts facts{.kv_values_per_token = 10};
  EXPECT_EQ(facts.kv_values(1024), 10240);
}

TEST(ModelFacts, ALayerWithAWindowKeepsARingOfBlocks) {
  ModelFacts facts{.kv_values_per_token = 100};
  facts.windows = {{.tokens = 200, .layers = 3, .kv_values_per_token = 60}};
  // Two blocks for the window, and one more.
  EXPECT_EQ(facts.kv_values(256), 100 * 256);
  EXPECT_EQ(facts.kv_values(384), 100 * 384);
  EXPECT_EQ(facts.kv_values(1024), 40 * 1024 + 60 * 384);
  EXPECT_EQ(facts.kv_values(1024, 8), 40 * 1024 + 60 * 208);
}

TEST(ModelFacts, EachWindowHasItsOwnRing) {
  ModelFacts facts{.kv_values_per_token = 7};
  facts.windows = {{.tokens = 16, .kv_values_per_token = 1},
                   {.tokens = 17, .kv_values_per_token = 2}};
  EXPECT_EQ(facts.kv_values(4096, 16), 4 * 4096 + 1 * 32 + 2 * 48);
}

}  // namespace
}  // namespace ahead
