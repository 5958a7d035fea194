// Of what a Williams design promises: every place and every neighbour equally often.
#include "lab/williams.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace ahead::lab {
namespace {

TEST(Williams, EveryArmStandsInEachPlaceAndBehindEachOtherEquallyOften) {
  for (std::size_t arms = 2; arms <= 7; ++arms) {
    const auto sequences = williams_sequences(arms);
    const std::size_t times = arms % 2 == 0 ? 1 : 2;
    ASSERT_EQ(sequences.size(), arms * times);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> places;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> behind;
    for (const auto& sequence : sequences) {
      ASSERT_EQ(std::set<std::size_t>(sequence.begin(), sequence.end()).size(), arms);
      for (std::size_t place = 0; place < arms; ++place) {
        ++places[{sequence[place], place}];
        if (place > 0) ++behind[{sequence[place - 1], sequence[place]}];
      }
    }
    ASSERT_EQ(places.size(), arms * arms);
    ASSERT_EQ(behind.size(), arms * (arms - 1));
    for (const auto& [where, count] : places) EXPECT_EQ(count, times) << arms << " arms";
    for (const auto& [pair, count] : behind) EXPECT_EQ(count, times) << arms << " arms";
  }
}

TEST(Williams, OneArmIsOneSequence) {
  EXPECT_EQ(williams_sequences(1), (std::vector<std::vector<std::size_t>>{{0}}));
}

}  // namespace
}  // namespace ahead::lab
