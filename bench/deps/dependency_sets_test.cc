// Under random changes the set that remembers answers as one that sorts at every question.
#include "deps/dependency_sets.h"

#include <gtest/gtest.h>

#include <random>

namespace ahead::bench {
namespace {

TEST(DependencySets, WhatIsRememberedIsWhatSortingGives) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    SortingSets sorting;
    RememberingSets remembering;
    std::size_t size = 8;
    sorting.resize(size);
    remembering.resize(size);
    for (int step = 0; step < 4000; ++step) {
      const std::size_t op = random() % size;
      const std::size_t other = random() % size;
      switch (random() % 40) {
        case 0:
          size += random() % 3;
          sorting.resize(size);
          remembering.resize(size);
          break;
        case 1:
          sorting.clear();
          remembering.clear();
          break;
        case 2:
        case 3:
        case 4:
          sorting.erase(op, other);
          remembering.erase(op, other);
          break;
        case 5:
        case 6:
        case 7:
        case 8:
          sorting.insert(op, other);
          remembering.insert(op, other);
          break;
        default:
          ASSERT_EQ(sorting.sorted(op), remembering.sorted(op)) << "seed " << seed;
      }
    }
    for (std::size_t op = 0; op < size; ++op) EXPECT_EQ(sorting.sorted(op), remembering.sorted(op));
    EXPECT_EQ(sorting.counts().asked, remembering.counts().asked);
    EXPECT_EQ(sorting.counts().sorted, sorting.counts().asked);
    EXPECT_LT(remembering.counts().sorted, remembering.counts().asked);
  }
}

TEST(DependencySets, AChangeForgetsItsOwnSetAndNoOther) {
  RememberingSets sets;
  sets.resize(3);
  sets.insert(0, 2);
  sets.insert(0, 1);
  EXPECT_EQ(sets.sorted(0), (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(sets.sorted(1).empty());
  EXPECT_EQ(sets.counts().sorted, 2U);
  sets.insert(0, 1);  // is there
  sets.erase(0, 7);   // is not
  sets.insert(2, 0);
  sets.resize(5);
  EXPECT_EQ(sets.sorted(0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(sets.counts().sorted, 2U);
  sets.erase(0, 2);
  EXPECT_EQ(sets.sorted(0), (std::vector<std::size_t>{1}));
  EXPECT_EQ(sets.counts().sorted, 3U);
  EXPECT_DOUBLE_EQ(sets.counts().hit_rate(), 0.25);
}

}  // namespace
}  // namespace ahead::bench
