#include "eigen/lobpcg/ritz.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

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

Eigen::MatrixXd random_block(int rows, int columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

TEST(Ritz, FindsTheBestOfASpanWithoutTheTrivialVector) {
  constexpr int kColumns = 6;
  const Spectrum spectrum(40);
  Eigen::MatrixXd s = random_block(40, 3 * kColumns, 5);
  s.col(0) = 2.5 * spectrum.vectors.col(0);  // Its norm is not for the caller to keep.
  const RitzStep step =
      solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, kColumns);
  ASSERT_EQ(step.found, kColumns - 1);
  EXPECT_EQ(step.values[0], 1);
  const Eigen::VectorXd expected = expected_values(spectrum, s, kColumns - 1);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(step.values[static_cast<std::size_t>(k)], expected(k - 1), 1e-10);
  }
  const Eigen::MatrixXd z = rotated(s, step, kColumns);
  EXPECT_LT((z.transpose() * z - Eigen::MatrixXd::Identity(kColumns, kColumns)).norm(), 1e-5);
  EXPECT_LT((z.col(0) - spectrum.vectors.col(0)).norm(), 1e-6);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(z.col(k).dot(spectrum.matrix * z.col(k)), expected(k - 1), 1e-5);
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
  const RitzStep step =
      solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, kColumns);
  ASSERT_EQ(step.found, kColumns - 1);
  const Eigen::VectorXd expected = expected_values(spectrum, s, kColumns - 1);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(step.values[static_cast<std::size_t>(k)], expected(k - 1), 1e-9);
  }
}

TEST(Ritz, LosesNothingOfTheVectorsSoFarToACorrectionLikeThem) {
  constexpr int kColumns = 4;
  const Spectrum spectrum(30);
  Eigen::MatrixXd s(30, 2 * kColumns);
  s.leftCols(kColumns) = spectrum.vectors.leftCols(kColumns);
  s.rightCols(kColumns) =
      spectrum.vectors.leftCols(kColumns) + 1e-3 * random_block(30, kColumns, 7);
  const RitzStep step =
      solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, kColumns);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(step.values[static_cast<std::size_t>(k)], spectrum.values(k), 1e-9);
  }
}

TEST(Ritz, LeavesOutWhatItIsTold) {
  constexpr int kColumns = 3;
  const Spectrum spectrum(20);
  Eigen::MatrixXd s = random_block(20, 2 * kColumns, 8);
  s.col(0) = spectrum.vectors.col(0);
  std::vector<bool> skipped(2 * kColumns, false);
  skipped[kColumns] = skipped[kColumns + 1] = true;
  const RitzStep step =
      solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, kColumns, skipped);
  Eigen::MatrixXd left(20, 4);
  left << s.leftCols(kColumns), s.col(kColumns + 2);
  const Eigen::VectorXd expected = expected_values(spectrum, left, kColumns - 1);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(step.values[static_cast<std::size_t>(k)], expected(k - 1), 1e-10);
    for (const int row : {kColumns, kColumns + 1}) {
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

}  // namespace
}  // namespace diacut
