#include <gtest/gtest.h>

#include <cmath>

#include "boundary/gradient/gradient.hpp"

namespace diacut {
namespace {

TEST(GradientWeights, KeepConstantsAndMeasureSlopes) {
  for (const double sigma : {0.05, 0.3, 0.5, 1.0, 1.5, 2.0, 10.0}) {
    SCOPED_TRACE(sigma);
    const GradientWeights weights = gradient_weights(sigma);
    EXPECT_EQ(weights.radius(), static_cast<int>(std::ceil(3 * sigma)));
    ASSERT_EQ(weights.smooth.size(), weights.derivative.size() + 1);
    double constant = weights.smooth[0];
    double slope = 0;
    for (int t = 1; t <= weights.radius(); ++t) {
      constant += 2 * weights.smooth[static_cast<std::size_t>(t)];
      slope += 2 * t * weights.derivative[static_cast<std::size_t>(t - 1)];
      EXPECT_GE(weights.derivative[static_cast<std::size_t>(t - 1)], 0);
    }
    EXPECT_NEAR(constant, 1, 1e-14);
    EXPECT_NEAR(slope, 1, 1e-14);
  }
}

TEST(GradientWeights, AreAGaussianAndItsDerivative) {
  const double sigma = 2;
  const GradientWeights weights = gradient_weights(sigma);
  const auto ratio = [](double later, double earlier) { return later / earlier; };
  EXPECT_NEAR(ratio(weights.smooth[3], weights.smooth[1]), std::exp(-(9.0 - 1) / 8), 1e-14);
  // The derivative at t is proportional to t times the Gaussian.
  EXPECT_NEAR(ratio(weights.derivative[2], weights.derivative[0]), 3 * std::exp(-(9.0 - 1) / 8),
              1e-14);
}

}  // namespace
}  // namespace diacut
