#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "contour/combined_contour.hpp"

namespace diacut {
namespace {

TEST(CombinedContour, IsTheWeightedSumWithThePowerOfTheSpectralPart) {
  ContourParameters parameters;
  parameters.cue_weight = 0.5;
  parameters.spectral_weight = 0.25;
  parameters.spectral_power = 2;
  parameters.spectral_scale = 10;
  const std::vector<double> g =
      reference_combined_contour({0, 1, 0, 0.5F, 0.25F}, {0, 0, 10, 5, 40}, parameters);
  ASSERT_EQ(g.size(), 5u);
  EXPECT_DOUBLE_EQ(g[0], 0.0);
  EXPECT_DOUBLE_EQ(g[1], 0.5);
  EXPECT_DOUBLE_EQ(g[2], 0.25);
  EXPECT_DOUBLE_EQ(g[3], 0.25 + 0.25 * 0.25);
  EXPECT_DOUBLE_EQ(g[4], 0.125 + 0.25);  // The spectral part is at most 1.
}

TEST(CombinedContour, IsAtMostOne) {
  ContourParameters parameters;
  parameters.cue_weight = 0.9;
  parameters.spectral_weight = 0.8;
  parameters.spectral_scale = 1;
  EXPECT_DOUBLE_EQ(reference_combined_contour({1.0F}, {1.0F}, parameters)[0], 1.0);
}

TEST(CombinedContour, OfTheBoundaryMapAloneIsTheBoundaryMap) {
  ContourParameters parameters;
  parameters.cue_weight = 1;
  parameters.spectral_weight = 0;
  const std::vector<float> boundary = {0.1F, 0.9F, 0.3F};
  EXPECT_EQ(reference_combined_contour(boundary, {5, 50, 500}, parameters),
            std::vector<double>(boundary.begin(), boundary.end()));
}

}  // namespace
}  // namespace diacut
