#include "eigen/lobpcg/ritz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "diacut/errors.hpp"

namespace diacut {
namespace {

/// A symmetric matrix whose eigenvalue 1 belongs to the first column of `vectors`.
struct Spectrum {
  Eigen::MatrixXd vectors;
  Eigen::VectorXd values;
  Eigen::MatrixXd matrix;

  explicit Spectrum(int size) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    const Eigen::MatrixXd any =
        Eigen::MatrixXd::NullaryExpr(size, size, [&] { return normal(random); });
    vectors = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
    values = Eigen::VectorXd::LinSpaced(size, 1, -0.3);
    matrix = vectors * values.asDiagonal() * vectors.transpose();
  }
};

Eigen::MatrixXd rotated(const Eigen::MatrixXd& s, const RitzStep& step, int columns) {
  Eigen::MatrixXd q(s.cols(), columns);
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) {
      q(i, j) = step.rotation[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return s * q;
}

/// The step in the span of `s`, as a dense problem in an orthonormal basis without the trivial
/// vector gives it.
Eigen::VectorXd expected_values(const Spectrum& spectrum, const Eigen::MatrixXd& s, int count) {
  const Eigen::VectorXd trivial = spectrum.vectors.col(0);
  const Eigen::MatrixXd rest =
      s.rightCols(s.cols() - 1) - trivial * (trivial.transpose() * s.rightCols(s.cols() - 1));
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(rest, Eigen::ComputeThinU);
  const auto rank = (svd.singularValues().array() > 1e-9).count();
  const Eigen::MatrixXd basis = svd.matrixU().leftCols(rank);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(basis.transpose() * spectrum.matrix *
                                                              basis);
  return solver.eigenvalues().reverse().head(std::min<Eigen::Index>(count, rank));
}

Eigen::MatrixXd random_block(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

Eigen::MatrixXd beside(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  Eigen::MatrixXd both(left.rows(), left.cols() + right.cols());
  both << left, right;
  return both;
}

/// Expects the step in the span of S to be the best of the span of `basis`, which is S without what
/// is skipped.
RitzStep expect_best(const Spectrum& spectrum, const Eigen::MatrixXd& s,
                     const Eigen::MatrixXd& basis, int columns,
                     const std::vector<bool>& skipped = {}) {
  const RitzStep step =
      solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, columns, skipped);
  EXPECT_EQ(step.found, columns - 1);
  const Eigen::VectorXd expected = expected_values(spectrum, basis, columns - 1);
  for (int k = 1; k < columns; ++k) {
    EXPECT_NEAR(step.values[static_cast<std::size_t>(k)], expected(k - 1), 1e-9);
  }
  return step;
}

TEST(Ritz, FindsTheBestOfASpanWithoutTheTrivialVector) {
  constexpr int kColumns = 6;
  const Spectrum spectrum(40);
  Eigen::MatrixXd s = random_block(40, 3 * kColumns, 5);
  s.col(0) = 2.5 * spectrum.vectors.col(0);  // Its norm is not for the caller to keep.
  const RitzStep step = expect_best(spectrum, s, s, kColumns);
  EXPECT_EQ(step.values[0], 1);
  const Eigen::MatrixXd z = rotated(s, step, kColumns);
  EXPECT_LT((z.transpose() * z - Eigen::MatrixXd::Identity(kColumns, kColumns)).norm(), 1e-5);
  EXPECT_LT((z.col(0) - spectrum.vectors.col(0)).norm(), 1e-6);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(z.col(k).dot(spectrum.matrix * z.col(k)), step.values[static_cast<std::size_t>(k)],
                1e-5);
  }
}

TEST(Ritz, TakesZeroAndDependentColumns) {
  constexpr int kColumns = 5;
  const Spectrum spectrum(30);
  Eigen::MatrixXd s = random_block(30, 3 * kColumns, 6);
  s.col(0) = spectrum.vectors.col(0);
  s.col(kColumns).setZero();
  s.col(kColumns + 1) = s.col(1) + s.col(2);
  s.col(kColumns + 2) = 3 * s.col(kColumns + 3);
  s.col(2 * kColumns) = s.col(0);
  expect_best(spectrum, s, s, kColumns);
}

TEST(Ritz, LosesNothingOfTheVectorsSoFarToACorrectionLikeThem) {
  constexpr int kColumns = 4;
  const Spectrum spectrum(30);
  const Eigen::MatrixXd so_far = spectrum.vectors.leftCols(kColumns);
  expect_best(spectrum, beside(so_far, so_far + 1e-3 * random_block(30, kColumns, 7)),
              spectrum.vectors.leftCols(kColumns), kColumns);
}

TEST(Ritz, LeavesOutWhatItIsTold) {
  constexpr int kColumns = 3;
  const Spectrum spectrum(20);
  Eigen::MatrixXd s = random_block(20, 2 * kColumns, 8);
  s.col(0) = spectrum.vectors.col(0);
  std::vector<bool> skipped(2 * kColumns, false);
  skipped[kColumns] = skipped[kColumns + 1] = true;
  const RitzStep step = expect_best(spectrum, s, beside(s.leftCols(kColumns), s.col(kColumns + 2)),
                                    kColumns, skipped);
  for (const int row : {kColumns, kColumns + 1}) {
    for (int k = 1; k < kColumns; ++k) {
      EXPECT_EQ(step.rotation[static_cast<std::size_t>(row * kColumns + k)], 0);
    }
  }
}

TEST(Ritz, SaysHowManyASmallSpanHolds) {
  const Spectrum spectrum(10);
  Eigen::MatrixXd s = Eigen::MatrixXd::Zero(10, 8);
  s.col(0) = spectrum.vectors.col(0);
  s.col(3) = spectrum.vectors.col(4);
  const RitzStep step = solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, 8);
  EXPECT_EQ(step.found, 1);
  EXPECT_NEAR(step.values[1], spectrum.values(4), 1e-12);
  EXPECT_EQ(step.values[2], 0);
}

TEST(Ritz, RefusesWhatIsNotFinite) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(4, 4);
  const Eigen::MatrixXd product = gram;
  gram(2, 1) = NAN;
  EXPECT_THROW(solve_ritz(gram, product, 4), NumericalError);
  EXPECT_THROW(solve_ritz(product, gram, 4), NumericalError);
}

constexpr int kRows = 30;
constexpr int kColumns = 4;

/// One step from S = [X W P] to X = S Q and P, in matrices and in ProjectedLaplacian.
class ProjectedLaplacianTest : public ::testing::Test {
 protected:
  ProjectedLaplacianTest() {
    const Eigen::MatrixXd any = random_block(kRows, kRows, 1);
    l_ = any + any.transpose();
    const Eigen::MatrixXd s = random_block(kRows, kColumns + 2 * 2, 2);
    const std::vector<std::int32_t> selected = {1, 3};
    RitzStep step;
    Eigen::MatrixXd q = random_block(s.cols(), kColumns, 3);
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
    const Eigen::MatrixXd s = beside(beside(x_, random_block(kRows, narrow, 4)), p);
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
