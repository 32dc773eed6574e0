// What residuals tell of eigenvalues, against matrices whose eigenvalues are known.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "eigen/resolution.hpp"

namespace diacut {
namespace {

TEST(EigenResolution, TheKnownEigenvalueHasNoError) {
  const auto found = resolution_of(std::vector{0.0, 0.5}, std::vector{1e-3, 1e-3});
  EXPECT_EQ(found[0].error, 0);
  EXPECT_EQ(found[0].angle, 0);
  EXPECT_TRUE(found[0].resolved);
}

TEST(EigenResolution, BoundsFollowTheFormulas) {
  // The neighbours of .3 may be at .1 + .02 and .6 - .01.
  const auto found =
      resolution_of(std::vector{0.0, 0.1, 0.3, 0.6}, std::vector{0.0, 0.02, 0.03, 0.01});
  EXPECT_DOUBLE_EQ(found[2].error, 0.03 * 0.03 / 0.18);
  EXPECT_DOUBLE_EQ(found[2].angle, 0.03 / 0.18);
  EXPECT_DOUBLE_EQ(found[1].error, 0.02 * 0.02 / 0.1) << "the known eigenvalue is a neighbour";
}

TEST(EigenResolution, TheLastEigenvalueHasNoUpperNeighbour) {
  const auto found = resolution_of(std::vector{0.0, 0.1}, std::vector{0.0, 0.02});
  EXPECT_DOUBLE_EQ(found[1].error, 0.02);
  EXPECT_EQ(found[1].angle, 1);
  EXPECT_TRUE(found[1].resolved);
}

TEST(EigenResolution, AResidualAsLargeAsTheEigenvalueDoesNotResolveIt) {
  const std::vector values{0.0, 1e-5, 2e-5, 1.0, 2.0};
  const auto coarse = resolution_of(values, std::vector{0.0, 1e-4, 1e-4, 1e-4, 1e-4});
  EXPECT_FALSE(coarse[1].resolved);
  EXPECT_FALSE(coarse[2].resolved);
  EXPECT_TRUE(coarse[3].resolved);
  const auto fine = resolution_of(values, std::vector{0.0, 1e-6, 1e-6, 1e-4, 1e-4});
  EXPECT_TRUE(fine[1].resolved);
  EXPECT_TRUE(fine[2].resolved);
}

TEST(EigenResolution, EqualEigenvaluesHaveNoDirectionOfTheirOwn) {
  const auto found = resolution_of(std::vector{0.0, 0.1, 0.1, 0.9}, std::vector(4, 1e-4));
  EXPECT_DOUBLE_EQ(found[1].error, 1e-4);
  EXPECT_EQ(found[1].angle, 1);
  EXPECT_TRUE(found[1].resolved);
}

TEST(EigenResolution, ResidualsBelowTheRoundingOfFloatsCountAsThat) {
  const auto found = resolution_of(std::vector{0.0, 5e-8, 1.0}, std::vector(3, 0.0));
  EXPECT_FALSE(found[1].resolved);
  EXPECT_EQ(found[2].error, kResidualRounding);
}

TEST(EigenResolution, AResidualThatIsNoNumberResolvesNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(resolution_of(std::vector{0.0, 0.5, 0.9}, std::vector{0.0, nan, 0.1})[1].resolved);
}

/// Ritz pairs of a matrix of known eigenvalues from a space that is tilted by about `tilt`: no
/// bound is smaller than the error.
void expect_bounds_hold(double tilt, unsigned seed) {
  constexpr Eigen::Index kSize = 40;
  constexpr Eigen::Index kWanted = 6;
  std::srand(seed);
  const Eigen::MatrixXd directions =
      Eigen::HouseholderQR<Eigen::MatrixXd>(Eigen::MatrixXd::Random(kSize, kSize)).householderQ();
  Eigen::VectorXd exact(kSize);
  for (Eigen::Index k = 0; k < kSize; ++k) {
    exact(k) = std::pow(static_cast<double>(k) / kSize, 2);
  }
  const Eigen::MatrixXd matrix = directions * exact.asDiagonal() * directions.transpose();
  Eigen::MatrixXd space = directions.leftCols(kWanted);
  space.rightCols(kWanted - 1) += tilt * Eigen::MatrixXd::Random(kSize, kWanted - 1);
  space = Eigen::HouseholderQR<Eigen::MatrixXd>(space).householderQ() *
          Eigen::MatrixXd::Identity(kSize, kWanted);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(space.transpose() * matrix * space);
  const Eigen::MatrixXd vectors = space * ritz.eigenvectors();
  std::vector<double> values;
  std::vector<double> residuals;
  for (Eigen::Index k = 0; k < kWanted; ++k) {
    values.push_back(ritz.eigenvalues()(k));
    residuals.push_back((matrix * vectors.col(k) - values.back() * vectors.col(k)).norm());
  }
  const auto found = resolution_of(values, residuals);
  for (Eigen::Index k = 1; k < kWanted; ++k) {
    const EigenResolution& bound = found[static_cast<std::size_t>(k)];
    const double error = std::abs(exact(k) - ritz.eigenvalues()(k));
    const double cosine = std::abs(directions.col(k).dot(vectors.col(k)));
    EXPECT_LE(error, bound.error + 1e-14) << k << " tilted by " << tilt;
    EXPECT_LE(std::sqrt(std::max(1 - cosine * cosine, 0.0)), bound.angle + 1e-7) << k;
  }
}

TEST(EigenResolution, NoErrorOfARitzPairIsLargerThanItsBounds) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    for (const double tilt : {1e-5, 1e-4, 1e-3}) expect_bounds_hold(tilt, seed);
  }
}

TEST(EigenResolution, ANoteTellsHowManyAreNotResolved) {
  EigenReport report;
  report.resolution = {{0, 0, true}, {1e-4, 1, false}, {1e-6, .1, true}};
  const auto note = resolution_note(report);
  ASSERT_TRUE(note);
  EXPECT_NE(note->find("2 of 3 eigenvalues"), std::string::npos) << *note;
  report.resolution[1].resolved = true;
  EXPECT_FALSE(resolution_note(report));
  EXPECT_FALSE(resolution_note(EigenReport{}));
}

}  // namespace
}  // namespace diacut
