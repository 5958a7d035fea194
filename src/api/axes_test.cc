// Tests of the axes' spellings and of the presets. May use: include/ahead, GoogleTest.
#include "ahead/axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Axes, EverySpellingRoundTrips) {
  for (const auto value :
       {Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand, Schedule::kPlanned}) {
    EXPECT_EQ(parse_schedule(to_string(value)), value);
  }
  for (const auto value : kv_policies()) {
    EXPECT_EQ(parse_kv_policy(to_string(value)), value);
  }
  for (const auto value : {KvType::kF32, KvType::kF16}) {
    EXPECT_EQ(parse_kv_type(to_string(value)), value);
  }
  for (const auto value : {Partition::kWhole, Partition::kAttention, Partition::blocks(1),
                           Partition::blocks(9'000'000'000)}) {
    EXPECT_EQ(parse_partition(to_string(value)), value);
  }
}

TEST(Axes, ListsEveryValue) {
  EXPECT_THAT(schedules(), ElementsAre(Schedule::kEager, Schedule::kOneAhead, Schedule::kOnDemand,
                                       Schedule::kPlanned));
  EXPECT_THAT(kv_policies(),
              ElementsAre(KvPolicy::kSharedMax, KvPolicy::kCopyGrow, KvPolicy::kInPlace));
  EXPECT_THAT(kv_types(), ElementsAre(KvType::kF32, KvType::kF16));
  EXPECT_THAT(partitions(), ElementsAre(Partition::Kind::kWhole, Partition::Kind::kBlocks,
                                        Partition::Kind::kAttention));
}

TEST(Axes, SpellingsAreTheContractsWords) {
  EXPECT_EQ(to_string(Schedule::kEager), "eager");
  EXPECT_EQ(to_string(Schedule::kOneAhead), "one-ahead");
  EXPECT_EQ(to_string(Schedule::kOnDemand), "on-demand");
  EXPECT_EQ(to_string(KvPolicy::kSharedMax), "shared-max");
  EXPECT_EQ(to_string(KvPolicy::kCopyGrow), "copy-grow");
  EXPECT_EQ(to_string(KvPolicy::kInPlace), "in-place");
  EXPECT_EQ(to_string(KvType::kF32), "f32");
  EXPECT_EQ(to_string(KvType::kF16), "f16");
  EXPECT_EQ(to_string(Partition::kWhole), "whole");
  EXPECT_EQ(to_string(Partition::kAttention), "attention");
  EXPECT_EQ(to_string(Partition::blocks(4)), "blocks:4");
  EXPECT_EQ(to_string(Partition::Kind::kBlocks), "blocks:N");
}

TEST(Axes, AnUnknownValueIsNamedWithItsAlternatives) {
  EXPECT_THAT(
      refusal([] { (void)parse_schedule("lazy"); }),
      AllOf(HasSubstr("schedule 'lazy'"), HasSubstr("eager, one-ahead, on-demand or planned")));
  EXPECT_THAT(refusal([] { (void)parse_kv_policy("paged"); }),
              AllOf(HasSubstr("'paged'"), HasSubstr("shared-max, copy-grow or in-place")));
  EXPECT_THAT(refusal([] { (void)parse_kv_type("F32"); }),
              AllOf(HasSubstr("'F32'"), HasSubstr("f32 or f16")));
  EXPECT_THAT(refusal([] { (void)parse_partition(""); }),
              AllOf(HasSubstr("''"), HasSubstr("choose whole")));
}

TEST(Axes, BlocksTakeAWholeNumberOfLayers) {
  for (const char* text : {"blocks", "blocks:", "blocks:0", "blocks:-1", "blocks:x", "blocks:N",
                           "blocks:4x", "blocks: 4", "blocks:+4", "blocks:99999999999999999999"}) {
    EXPECT_THAT(refusal([&] { (void)parse_partition(text); }),
                AllOf(HasSubstr("'" + std::string(text) + "'"), HasSubstr("from 1")));
  }
  EXPECT_THAT(refusal([] { (void)parse_partition("halves"); }),
              HasSubstr("whole, blocks:N or attention"));
}

TEST(Axes, AnErrorStaysOneShortLineWhateverTheValue) {
  const std::string text =
      refusal([] { (void)parse_schedule("a\nb\x1b[2J" + std::string(100'000, 'x')); });
  EXPECT_LT(text.size(), 200U);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\n")), Not(HasSubstr("\x1b"))));
}

TEST(Designs, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const Design& design : designs()) {
    EXPECT_TRUE(names.insert(design.name).second) << design.name;
    EXPECT_EQ(&find_design(design.name), &design);
    EXPECT_FALSE(design.summary.empty());
  }
  EXPECT_EQ(&find_design(default_design().name), &default_design());
}

TEST(Designs, AnUnknownNameIsNamedWithAllThatExist) {
  const std::string text = refusal([] { (void)find_design("z9"); });
  EXPECT_THAT(text, HasSubstr("'z9'"));
  for (const Design& design : designs()) {
    EXPECT_THAT(text, HasSubstr(std::string(design.name)));
  }
}

TEST(Designs, PresetsStandWhereTheDesignPutsThem) {
  const std::vector<std::int64_t> ladder = {64, 128, 256};
  struct Expected {
    std::string_view name;
    std::vector<std::int64_t> ladder;
    Schedule schedule;
    KvPolicy kv;
    Partition partition = Partition::kWhole;
  };
  const std::vector<Expected> table = {
      {"b0", {256}, Schedule::kEager, KvPolicy::kSharedMax},
      {"b1", ladder, Schedule::kEager, KvPolicy::kSharedMax},
      {"i1", ladder, Schedule::kEager, KvPolicy::kCopyGrow},
      {"i2", ladder, Schedule::kOneAhead, KvPolicy::kCopyGrow},
      {"i3", ladder, Schedule::kPlanned, KvPolicy::kInPlace, Partition::kAttention},
  };
  ASSERT_EQ(designs().size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Design& design = designs()[i];
    const Axes axes = axes_of(design, ladder);
    EXPECT_EQ(design.name, table[i].name);
    EXPECT_EQ(axes.ladder, table[i].ladder) << design.name;
    EXPECT_EQ(axes.schedule, table[i].schedule) << design.name;
    EXPECT_EQ(axes.kv, table[i].kv) << design.name;
    EXPECT_EQ(axes.partition, table[i].partition) << design.name;
  }
  EXPECT_EQ(default_design().name, "i3");
}

TEST(Designs, TheDefaultPresetIsWhatDefaultAxesSay) {
  const Axes axes = axes_of(default_design(), {1024, 2048});
  EXPECT_THAT(axes.ladder, ElementsAre(1024, 2048));
  EXPECT_TRUE(Axes{}.ladder.empty());  // the model's
  EXPECT_EQ(axes.schedule, Axes{}.schedule);
  EXPECT_EQ(axes.kv, Axes{}.kv);
  EXPECT_EQ(axes.partition, Axes{}.partition);
}

}  // namespace
}  // namespace ahead
