#include "eigen/lobpcg/small_eigen.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "diacut/errors.hpp"

namespace diacut {
namespace {

constexpr double kSmallEigenEps = std::numeric_limits<double>::epsilon();

SmallMatrix small(const Eigen::MatrixXd& from) {
  SmallMatrix result(static_cast<int>(from.rows()), static_cast<int>(from.cols()));
  for (int i = 0; i < result.rows; ++i) {
    for (int j = 0; j < result.columns; ++j) result.row(i)[j] = from(i, j);
  }
  return result;
}

Eigen::MatrixXd dense(const SmallMatrix& from) {
  return Eigen::MatrixXd::NullaryExpr(
      from.rows, from.columns, [&](auto i, auto j) { return from.row(static_cast<int>(i))[j]; });
}

Eigen::MatrixXd random_matrix(int rows, int columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

Eigen::MatrixXd with_spectrum(const Eigen::VectorXd& values, unsigned seed) {
  const int size = static_cast<int>(values.size());
  const Eigen::MatrixXd q =
      Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(size, size, seed)).householderQ();
  const Eigen::MatrixXd a = q * values.asDiagonal() * q.transpose();
  return (a + a.transpose()) / 2;
}

/// `size` reflections and some two rotations a value and row change a vector by a few eps each, and
/// in directions of their own: sqrt(size) of them add up, and we allow `size`.
void expect_largest(const Eigen::MatrixXd& a, int count) {
  const int size = static_cast<int>(a.rows());
  const SmallEigenpairs pairs = largest_eigenpairs(small(a), count);
  ASSERT_EQ(static_cast<int>(pairs.values.size()), count);
  ASSERT_EQ(pairs.vectors.rows, size);
  ASSERT_EQ(pairs.vectors.columns, count);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  const double norm = solver.eigenvalues().cwiseAbs().maxCoeff();
  const double tolerance = 4 * (size + 2) * kSmallEigenEps;
  const Eigen::VectorXd values = Eigen::VectorXd::Map(pairs.values.data(), count);
  const Eigen::MatrixXd vectors = dense(pairs.vectors);
  const Eigen::VectorXd expected = solver.eigenvalues().reverse().head(count);
  EXPECT_LE((values - expected).cwiseAbs().maxCoeff(), tolerance * norm) << size;
  EXPECT_LE((vectors.transpose() * vectors - Eigen::MatrixXd::Identity(count, count))
                .cwiseAbs()
                .maxCoeff(),
            tolerance)
      << size;
  EXPECT_LE((a * vectors - vectors * values.asDiagonal()).colwise().norm().maxCoeff(),
            tolerance * norm)
      << size;
}

TEST(SmallEigen, AgreesWithADenseSolverAtEverySize) {
  for (int size = 1; size <= 90; ++size) {
    const Eigen::MatrixXd any = random_matrix(size, size, static_cast<unsigned>(size));
    expect_largest(any + any.transpose(), 1 + size / 3);
    expect_largest(any * any.transpose(), size);
  }
}

TEST(SmallEigen, HoldsClustersAndMultiplicitiesOrthogonal) {
  for (const int size : {2, 3, 5, 16, 23, 40, 61}) {
    const int count = 1 + size / 2;
    Eigen::VectorXd values = Eigen::VectorXd::Ones(size);
    expect_largest(with_spectrum(values, 1), count);
    values.tail(size / 2).setZero();
    expect_largest(with_spectrum(values, 2), count);
    for (int i = 0; i < size; ++i) values(i) = 1 - 1e-5 * (i / 3) - 1e-14 * (i % 3);
    expect_largest(with_spectrum(values, 3), count);
    for (int i = 0; i < size; ++i) values(i) = 1 - 1e-12 * std::exp2(i);
    expect_largest(with_spectrum(values.cwiseMax(-1), 4), count);
  }
}

TEST(SmallEigen, TakesGradedSpectraOfAnyScaleAndSign) {
  for (const int size : {2, 7, 24, 61}) {
    Eigen::VectorXd values(size);
    for (int i = 0; i < size; ++i) values(i) = std::pow(10, -0.4 * i) * (i % 2 == 0 ? 1 : -1);
    for (const double scale : {1.0, 1e-140, 1e140}) {
      expect_largest(scale * with_spectrum(values, 5), size);
    }
    // The grading of entries, either way, is what the end that QL begins at depends on.
    Eigen::VectorXd grades(size);
    for (int i = 0; i < size; ++i) grades(i) = std::pow(10, -0.2 * i);
    const Eigen::MatrixXd any = random_matrix(size, size, 6);
    const Eigen::MatrixXd symmetric = any + any.transpose();
    expect_largest(grades.asDiagonal() * symmetric * grades.asDiagonal(), size);
    grades.reverseInPlace();
    expect_largest(grades.asDiagonal() * symmetric * grades.asDiagonal(), size);
  }
}

TEST(SmallEigen, TakesMatricesThatNeedLittle) {
  for (const int size : {1, 2, 3, 4, 9, 24}) {
    expect_largest(Eigen::MatrixXd::Zero(size, size), size);
    expect_largest(Eigen::MatrixXd::Identity(size, size), size);
    expect_largest(Eigen::MatrixXd::Ones(size, size), size);
    expect_largest(Eigen::VectorXd::LinSpaced(size, -1, 1).asDiagonal(), size);
    // A path: tridiagonal already, with a zero diagonal, which a shift of zero would not move.
    Eigen::MatrixXd path = Eigen::MatrixXd::Zero(size, size);
    path.diagonal(1).setOnes();
    path.diagonal(-1).setOnes();
    expect_largest(path, size);
    EXPECT_TRUE(largest_eigenpairs(small(path), 0).values.empty());
  }
}

TEST(SmallEigen, RefusesWhatIsNotFinite) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(5, 5);
  a(3, 1) = a(1, 3) = NAN;
  EXPECT_THROW(largest_eigenpairs(small(a), 2), NumericalError);
}

/// An upper triangle has something below its diagonal only if `below` is not zero.
Eigen::MatrixXd upper_triangle(int size, double below) {
  Eigen::MatrixXd result = random_matrix(size, size, 9).triangularView<Eigen::Upper>();
  result.diagonal().array() += 3 + size;
  result.triangularView<Eigen::StrictlyLower>().setConstant(below);
  return result;
}

TEST(SmallMatrix, Factors) {
  for (const int size : {1, 2, 7, 8, 9, 40, 61}) {
    const Eigen::MatrixXd any = random_matrix(size, size + 5, 7);
    const Eigen::MatrixXd a = any * any.transpose();
    SmallMatrix factor = small(a);
    ASSERT_TRUE(cholesky(factor));
    const Eigen::MatrixXd u = dense(factor).triangularView<Eigen::Upper>();
    EXPECT_LE((u.transpose() * u - a).norm(), size * kSmallEigenEps * a.norm()) << size;
  }
}

TEST(SmallMatrix, FindsAPivotThatIsNotPositive) {
  for (const double pivot : {0.0, -1.0}) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Identity(6, 6);
    a(4, 4) = pivot;
    SmallMatrix factor = small(a);
    EXPECT_FALSE(cholesky(factor));
  }
}

TEST(SmallMatrix, InvertsAnUpperTriangle) {
  for (const int size : {1, 2, 7, 8, 9, 17, 61}) {
    const Eigen::MatrixXd u = upper_triangle(size, 0);
    const Eigen::MatrixXd inverse = dense(inverse_of_upper(small(upper_triangle(size, NAN))));
    // Rows are dominated by their diagonals: the condition is less than ten.
    EXPECT_LE((u * inverse - Eigen::MatrixXd::Identity(size, size)).norm(),
              10 * size * kSmallEigenEps);
    EXPECT_EQ(inverse.triangularView<Eigen::StrictlyLower>().toDenseMatrix().norm(), 0);
  }
}

TEST(SmallMatrix, Multiplies) {
  for (const int inner : {1, 2, 7, 8, 9, 17, 40}) {
    for (const int columns : {0, 1, 8, 33, 61}) {
      const Eigen::MatrixXd a = random_matrix(19, inner, 10);
      // Rows that begin and columns that end with zeros, and such that are zero altogether.
      Eigen::MatrixXd b = random_matrix(inner, columns, 11);
      for (int i = 0; i < inner && columns > 0; ++i) {
        b.row(i).head(std::min(columns, 3 * i)).setZero();
      }
      const Eigen::MatrixXd transposed = b.transpose();
      const Eigen::MatrixXd right = random_matrix(inner, 19, 12);
      const double tolerance = inner * kSmallEigenEps * b.norm();
      EXPECT_LE((dense(multiply(small(a), small(b))) - a * b).norm(), tolerance * a.norm());
      EXPECT_LE((dense(multiply_transposed(small(b), small(right))) - transposed * right).norm(),
                tolerance * right.norm());
      EXPECT_LE((dense(multiply(small(transposed), small(right))) - transposed * right).norm(),
                tolerance * right.norm());
    }
  }
}

}  // namespace
}  // namespace diacut
