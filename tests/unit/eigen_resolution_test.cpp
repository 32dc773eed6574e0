// What residuals tell of eigenvalues, against matrices whose eigenvalues are known.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "eigen/resolution.hpp"

namespace diacut {
namespace {

TEST(EigenResolution, BoundsFollowTheFormulas) {
  struct Case {
    const char* what;
    std::vector<double> values;
    std::vector<double> residuals;
    std::size_t k;
    double error, angle;
    bool resolved;
  };
  const double r = kResidualRounding;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> small = {0, 1e-5, 2e-5, 1, 2};
  for (const auto& [what, values, residuals, k, error, angle, resolved] :
       {Case{"what is known has no error", {0, 0.5}, {1e-3, 1e-3}, 0, 0, 0, true},
        {"the neighbours may be at .1 + .02 and .6 - .01",
         {0, 0.1, 0.3, 0.6},
         {0, 0.02, 0.03, 0.01},
         2,
         0.03 * 0.03 / 0.18,
         0.03 / 0.18,
         true},
        {"what is known is a neighbour",
         {0, 0.1, 0.3, 0.6},
         {0, 0.02, 0.03, 0.01},
         1,
         0.02 * 0.02 / 0.1,
         0.2,
         true},
        {"the last has no upper neighbour", {0, 0.1}, {0, 0.02}, 1, 0.02, 1, true},
        {"a residual as large as the value", small, {0, 1e-4, 1e-4, 1e-4, 1e-4}, 1, 1e-4, 1, false},
        {"and of the one beside it", small, {0, 1e-4, 1e-4, 1e-4, 1e-4}, 2, 1e-4, 1, false},
        {"equal values have no direction of their own",
         {0, 0.1, 0.1, 0.9},
         {1e-4, 1e-4, 1e-4, 1e-4},
         1,
         1e-4,
         1,
         true},
        {"residuals below the rounding of floats count as that",
         {0, 5e-8, 1},
         {0, 0, 0},
         1,
         r,
         1,
         false},
        {"and the last one's", {0, 5e-8, 1}, {0, 0, 0}, 2, r, 1, true}}) {
    SCOPED_TRACE(what);
    const EigenResolution found = resolution_of(values, residuals)[k];
    EXPECT_DOUBLE_EQ(found.error, error);
    EXPECT_DOUBLE_EQ(found.angle, angle);
    EXPECT_EQ(found.resolved, resolved);
  }
  EXPECT_TRUE(resolution_of(small, std::vector{0.0, 1e-6, 1e-6, 1e-4, 1e-4})[1].resolved);
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
