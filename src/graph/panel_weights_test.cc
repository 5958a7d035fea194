// Products of panels against the definition, with every loop that the processor can run. May use:
// std, GoogleTest.
#include "graph/panel_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ahead::graph {
namespace {

/// The number that the bits of a finite f16 stand for.
double number(std::uint16_t half) {
  const int exponent = half >> 10U & 31U;
  const int fraction = half & 1023U;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000U) != 0 ? -size : size;
}

/// A matrix of random codes, scales and zero points.
struct Matrix {
  explicit Matrix(const PanelWeights::Size& of, unsigned seed = 1) : size(of) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < size.rows * size.columns / 2; ++i) {
      codes.push_back(static_cast<std::byte>(random() & 255U));
    }
    for (std::size_t i = 0; i < size.rows * size.columns / size.group; ++i) {
      // Bits of any finite f16, the smallest too.
      scales.push_back(static_cast<std::uint16_t>((random() & 0x83FFU) | (random() % 20) << 10U));
      zero_points.push_back(
          static_cast<std::uint16_t>((random() & 0x83FFU) | (random() % 20) << 10U));
    }
  }

  [[nodiscard]] PanelWeights panels() const {
    return PanelWeights(
        {.size = size, .codes = codes, .scales = scales, .zero_points = zero_points});
  }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    const std::size_t flat = row * size.columns + column;
    const auto code = std::to_integer<unsigned>(codes[flat / 2]) >> (flat % 2 == 0 ? 0U : 4U) & 15U;
    const std::size_t group = flat / size.group;
    return number(scales[group]) * (code - number(zero_points[group]));
  }

  PanelWeights::Size size;
  std::vector<std::byte> codes;
  std::vector<std::uint16_t> scales;
  std::vector<std::uint16_t> zero_points;
};

std::vector<float> random_vector(std::size_t size) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> real(-2, 2);
  std::vector<float> values(size);
  for (float& value : values) value = real(random);
  return values;
}

class PanelWeightsTest : public testing::TestWithParam<PanelWeights::Size> {};

INSTANTIATE_TEST_SUITE_P(Sizes, PanelWeightsTest,
                         testing::Values(PanelWeights::Size{16, 8, 8},
                                         PanelWeights::Size{16, 32, 32},
                                         PanelWeights::Size{48, 96, 32},
                                         PanelWeights::Size{576, 1536, 32},
                                         PanelWeights::Size{64, 640, 128}),
                         [](const auto& size) {
                           return std::to_string(size.param.rows) + "x" +
                                  std::to_string(size.param.columns) + "by" +
                                  std::to_string(size.param.group);
                         });

TEST_P(PanelWeightsTest, AProductIsTheOneByDefinition) {
  const Matrix matrix(GetParam());
  const PanelWeights panels = matrix.panels();
  const std::vector<float> x = random_vector(matrix.size.columns);
  for (std::size_t loop = 0; loop < PanelWeights::loops_here(); ++loop) {
    SCOPED_TRACE("loop " + std::to_string(loop));
    std::vector<float> y(matrix.size.rows, 1e9F);
    panels.multiply({.loop = loop}, x, y);
    for (std::size_t row = 0; row < y.size(); ++row) {
      double wanted = 0;
      double size = 0;
      for (std::size_t column = 0; column < x.size(); ++column) {
        const double term = matrix.at(row, column) * double{x[column]};
        wanted += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(y[row], wanted, 1e-5 * size) << "row " << row;
    }
  }
}

TEST_P(PanelWeightsTest, OfItselfItTakesTheLastLoop) {
  const Matrix matrix(GetParam());
  const PanelWeights panels = matrix.panels();
  const std::vector<float> x = random_vector(matrix.size.columns);
  std::vector<float> chosen(matrix.size.rows);
  std::vector<float> last(matrix.size.rows);
  panels.multiply(x, chosen);
  panels.multiply({.loop = PanelWeights::loops_here() - 1}, x, last);
  EXPECT_EQ(chosen, last);
}

TEST_P(PanelWeightsTest, EveryCodeCountsOnItsOwn) {
  Matrix matrix(GetParam());
  const std::size_t rows = matrix.size.rows;
  const std::size_t columns = matrix.size.columns;
  for (const std::size_t column : {std::size_t{0}, columns / 2, columns - 1}) {
    std::vector<float> x(columns, 0.0F);
    x[column] = 1;
    std::vector<float> y(rows);
    for (std::size_t loop = 0; loop < PanelWeights::loops_here(); ++loop) {
      matrix.panels().multiply({.loop = loop}, x, y);
      for (std::size_t row = 0; row < rows; ++row) {
        EXPECT_FLOAT_EQ(y[row], static_cast<float>(matrix.at(row, column)));
      }
    }
  }
}

TEST(PanelWeightsSizesTest, OnlyWholePanelsGroupsAndWordsCanBeHeld) {
  EXPECT_TRUE(PanelWeights::can_hold({16, 32, 32}));
  EXPECT_FALSE(PanelWeights::can_hold({8, 32, 32}));
  EXPECT_FALSE(PanelWeights::can_hold({16, 48, 32}));
  EXPECT_FALSE(PanelWeights::can_hold({16, 36, 12}));
  EXPECT_FALSE(PanelWeights::can_hold({0, 32, 32}));
  EXPECT_FALSE(PanelWeights::can_hold({16, 0, 32}));
  EXPECT_FALSE(PanelWeights::can_hold({16, 32, 0}));
}

TEST(PanelWeightsSizesTest, TakesAsMuchMemoryAsItsContents) {
  const Matrix matrix({32, 64, 32});
  EXPECT_EQ(matrix.panels().bytes(), 32 * 64 / 2 + 2 * 32 * 2 * sizeof(std::uint16_t));
}

TEST(PanelWeightsDeathTest, VectorsOfAnotherLengthStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Matrix matrix({16, 32, 32});
  const PanelWeights panels = matrix.panels();
  std::vector<float> x(32);
  std::vector<float> y(15);
  EXPECT_DEATH(panels.multiply(x, y), "vectors fit the weights");
}

}  // namespace
}  // namespace ahead::graph
