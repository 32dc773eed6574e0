#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "eigen/lobpcg/ritz.hpp"

namespace diacut {
namespace {

constexpr int kRows = 30;
constexpr int kColumns = 4;

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

Eigen::MatrixXd beside(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  Eigen::MatrixXd both(left.rows(), left.cols() + right.cols());
  both << left, right;
  return both;
}

/// One step from S = [X W P] to X = S Q and P, in matrices and in ProjectedLaplacian.
class ProjectedLaplacianTest : public ::testing::Test {
 protected:
  ProjectedLaplacianTest() {
    const Eigen::MatrixXd any = random_matrix(kRows, kRows, 1);
    l_ = any + any.transpose();
    const Eigen::MatrixXd s = random_matrix(kRows, kColumns + 2 * 2, 2);
    const std::vector<std::int32_t> selected = {1, 3};
    RitzStep step;
    Eigen::MatrixXd q = random_matrix(s.cols(), kColumns, 3);
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      for (Eigen::Index j = 0; j < q.cols(); ++j) {
        step.rotation.push_back(static_cast<float>(q(i, j)));
        q(i, j) = step.rotation.back();
      }
    }
    projected_.rotate(s.transpose() * l_ * s, step, selected);
    x_ = s * q;
    const Eigen::MatrixXd directions = s.rightCols(4) * q.bottomRows(4);
    p_ = beside(directions.col(1), directions.col(3));
  }

  /// S'L S of the next basis [X W P] as complete() has it, against the plain product.
  void expect_completed(const Eigen::MatrixXd& p) {
    const Eigen::Index narrow = p.cols();
    const Eigen::MatrixXd s = beside(beside(x_, random_matrix(kRows, narrow, 4)), p);
    const Eigen::MatrixXd expected = s.transpose() * l_ * s;
    Eigen::MatrixXd found = expected;
    // The products L W tell nothing of the blocks of X and P.
    found.topLeftCorner(kColumns, kColumns).setConstant(NAN);
    found.topRightCorner(kColumns, narrow).setConstant(NAN);
    found.bottomLeftCorner(narrow, kColumns).setConstant(NAN);
    found.bottomRightCorner(narrow, narrow).setConstant(NAN);
    projected_.complete(found);
    ASSERT_TRUE(found.allFinite());
    EXPECT_LE((found - expected).norm(), 1e-12 * expected.norm());
  }

  Eigen::MatrixXd l_;
  Eigen::MatrixXd x_;
  Eigen::MatrixXd p_;
  ProjectedLaplacian projected_{kColumns};
};

TEST_F(ProjectedLaplacianTest, IsKnownAfterAStep) {
  EXPECT_FALSE(ProjectedLaplacian(kColumns).known());
  EXPECT_TRUE(projected_.known());
  expect_completed(p_);
}

TEST_F(ProjectedLaplacianTest, FollowsASelectionOfDirections) {
  // The second direction, and a column that was not selected before.
  const std::vector<std::int32_t> directions = {1, -1};
  projected_.select(directions);
  expect_completed(beside(p_.col(1), Eigen::MatrixXd::Zero(kRows, 1)));
}

TEST_F(ProjectedLaplacianTest, WithoutDirectionsOnlyXIsLeft) {
  projected_.select({});
  expect_completed(Eigen::MatrixXd(kRows, 0));
}

TEST(GramOfSelected, LeavesOutTheColumnsThatAnImageDoesNotHave) {
  // X has 2 columns, W and P are 3 wide, of which the image has 1.
  constexpr int kSide = 2 + 2 * 3;
  std::vector<double> whole;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) whole.push_back(10 * std::min(i, j) + std::max(i, j));
  }
  const Eigen::MatrixXd found = gram_of_selected(whole, kSide, 2, 3, 1);
  const int columns[] = {0, 1, 2, 5};
  ASSERT_EQ(found.rows(), 4);
  ASSERT_EQ(found.cols(), 4);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(found(i, j), whole[static_cast<std::size_t>(columns[i] * kSide + columns[j])]);
    }
  }
}

}  // namespace
}  // namespace diacut
