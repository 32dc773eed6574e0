#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "map/components.hpp"

namespace diacut {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(Components, OfBandsThatGoTogetherAreOne) {
  // The second band is the first in other units, the third has nothing to do with them.
  std::vector<double> samples;
  for (const double a : {1.0, 2.0, 3.0, 4.0}) {
    for (const double c : {-5.0, 5.0}) samples.insert(samples.end(), {a, 1000 * a + 7, c});
  }
  const Components components = principal_components(samples, 3);
  EXPECT_THAT(components.mean, ElementsAre(2.5, 2507, 0));
  EXPECT_NEAR(components.scale[0], 1 / std::sqrt(1.25), 1e-12);
  EXPECT_NEAR(components.scale[2], 0.2, 1e-12);
  ASSERT_EQ(components.weights.size(), 3u);
  const double half = std::sqrt(0.5);
  EXPECT_THAT(components.weights[0],
              ElementsAre(DoubleNear(half, 1e-12), DoubleNear(half, 1e-12), DoubleNear(0, 1e-12)));
  EXPECT_THAT(components.weights[1],
              ElementsAre(DoubleNear(0, 1e-12), DoubleNear(0, 1e-12), DoubleNear(1, 1e-12)));
  EXPECT_NEAR(components.share, 1, 1e-12);
}

TEST(Components, TellTheirShareOfTheVariance) {
  // Five independent bands: each component has a fifth.
  std::vector<double> samples;
  for (int i = 0; i < 32; ++i) {
    for (int bit = 0; bit < 5; ++bit) samples.push_back(i >> bit & 1);
  }
  EXPECT_NEAR(principal_components(samples, 5).share, 0.6, 1e-12);
}

TEST(Components, LeaveFlatBandsOut) {
  std::vector<double> samples;
  for (int i = 0; i < 10; ++i) samples.insert(samples.end(), {0.1, static_cast<double>(i)});
  const Components components = principal_components(samples, 2);
  EXPECT_EQ(components.scale[0], 0);
  EXPECT_NEAR(components.weights[0][1], 1, 1e-12);
  EXPECT_NEAR(components.share, 1, 1e-12);
  const Components flat = principal_components(std::vector<double>(20, 3.0), 2);
  EXPECT_THAT(flat.scale, ElementsAre(0, 0));
  EXPECT_EQ(flat.share, 1);
}

TEST(Components, AreAtRightAnglesAndDoNotSubtractBrightness) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> samples;
  for (int i = 0; i < 500; ++i) {
    const double common = normal(random);
    for (int b = 0; b < 8; ++b) samples.push_back(-common + 0.3 * b * normal(random));
  }
  const Components components = principal_components(samples, 8);
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (const double weight : components.weights[i]) sum += weight;
    EXPECT_GE(sum, 0);
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::size_t b = 0; b < 8; ++b) {
        product += components.weights[i][b] * components.weights[j][b];
      }
      EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12);
    }
  }
}

}  // namespace
}  // namespace diacut
