#include "eigen/multilevel/coarsest_level.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "eigen/dense/dense.hpp"

namespace diacut {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

/// A normalized affinity matrix D^-1/2 W D^-1/2 with weights between neighbours on a grid, as it is
/// stored, and the roots of its degrees.
struct Problem {
  HostDiaMatrix matrix;
  std::vector<float> sqrt_degree;
};

/// Weights between bands, of `band` columns each, are `across` times what they are within.
template <typename HasData>
Problem on_grid(int width, int height, int band, double across, HasData has_data) {
  constexpr int kRadius = 2;
  const auto rows = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  Problem problem;
  problem.matrix.shape.rows = rows;
  problem.matrix.shape.pitch = rows + 3;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0.05, 1);
  const auto n = static_cast<Eigen::Index>(rows);
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      const int dx = j % width - i % width;
      const int dy = j / width - i / width;
      const double drawn = weight(random);
      if (std::abs(dx) > kRadius || dy > kRadius || !has_data(i) || !has_data(j)) continue;
      const bool within = i % width / band == j % width / band;
      w(i, j) = w(j, i) = within ? drawn : across * drawn;
    }
  }
  const Eigen::VectorXd root = w.rowwise().sum().cwiseSqrt();
  for (int i = 0; i < n; ++i) problem.sqrt_degree.push_back(static_cast<float>(root(i)));
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const int offset = dy * width + dx;
      problem.matrix.shape.offsets.push_back(offset);
      for (int i = 0; i < static_cast<int>(problem.matrix.shape.pitch); ++i) {
        const int j = i + offset;
        const bool inside = i < n && j >= 0 && j < n && j % width - i % width == dx && w(i, j) > 0;
        problem.matrix.values.push_back(inside ? static_cast<float>(w(i, j) / (root(i) * root(j)))
                                               : 0.0F);
      }
    }
  }
  return problem;
}

Problem on_grid(int width, int height) {
  return on_grid(width, height, width, 1, [](int) { return true; });
}

/// As the last image of several has them: nothing follows the last diagonal, which a sanitizer
/// sees.
std::optional<CoarsestLevel> solve(const Problem& problem, int columns) {
  const DiaShape& shape = problem.matrix.shape;
  const auto& values = problem.matrix.values;
  const std::vector<float> own(
      values.begin(),
      values.begin() + static_cast<std::ptrdiff_t>(shape.stored() - shape.pitch + shape.rows));
  return solve_coarsest_level(shape, own.data(), problem.sqrt_degree, columns);
}

/// What has data of a result.
Eigen::MatrixXd kept(const std::vector<float>& values, int columns, const DenseProblem& dense,
                     bool both) {
  const auto n = static_cast<Eigen::Index>(dense.element.size());
  return Eigen::MatrixXd::NullaryExpr(n, both ? n : columns, [&](auto i, auto j) {
    return values[static_cast<std::size_t>(dense.element[i] * columns +
                                           (both ? dense.element[j] : j))];
  });
}

/// The inverse on what is orthogonal to the trivial eigenvector, of eigenvalues above 1e-6.
Eigen::MatrixXd expected_inverse(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solver) {
  Eigen::VectorXd inverse = 1 - solver.eigenvalues().array();
  inverse = inverse.unaryExpr([](double value) { return value > 1e-6 ? 1 / value : 0; });
  inverse(0) = 0;
  return solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
}

void expect_solved(const Problem& problem, int columns) {
  const std::optional<CoarsestLevel> last = solve(problem, columns);
  ASSERT_TRUE(last);
  const DenseProblem dense = dense_problem(problem.matrix, problem.sqrt_degree);
  const auto n = static_cast<Eigen::Index>(dense.element.size());
  const auto rows = static_cast<int>(problem.matrix.shape.rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense.a);

  // A backward stable inverse of a matrix of norm at most 3 is off by n eps 3 |inverse|^2.
  const Eigen::MatrixXd inverse = kept(last->inverse, rows, dense, true);
  const Eigen::MatrixXd expected = expected_inverse(solver);
  const double norm = std::max(expected.operatorNorm(), 1.0);
  EXPECT_LE((inverse - expected).operatorNorm(), static_cast<double>(n) * kEps * 3 * norm * norm);
  EXPECT_EQ(std::count_if(last->inverse.begin(), last->inverse.end(),
                          [](float value) { return value != 0; }),
            (inverse.array() != 0).count());

  const Eigen::MatrixXd vectors = kept(last->vectors, columns, dense, false);
  EXPECT_LE((vectors.col(0) - dense.trivial).norm(), 4 * kEps);
  EXPECT_LE((vectors.transpose() * vectors - Eigen::MatrixXd::Identity(columns, columns)).norm(),
            static_cast<double>(n) * kEps * norm);
  ASSERT_EQ(last->values.size(), static_cast<std::size_t>(columns));
  EXPECT_EQ(last->values[0], 1);
  for (Eigen::Index k = 1; k < columns; ++k) {
    EXPECT_NEAR(last->values[static_cast<std::size_t>(k)],
                vectors.col(k).dot(dense.a * vectors.col(k)), static_cast<double>(n) * kEps * norm)
        << k;
  }
  // No Ritz value is above its eigenvalue.
  for (Eigen::Index k = 1; k < columns; ++k) {
    EXPECT_LE(vectors.col(k).dot(dense.a * vectors.col(k)),
              solver.eigenvalues()(n - k) + static_cast<double>(n) * kEps)
        << k;
  }
  // Two steps of subspace iteration at least leave of the tangent of an angle the square of the
  // eigenvalues' ratio. The angles at the start are their own matter; 100 is well below a random
  // start's.
  const double ratio = (1 - solver.eigenvalues()(n - columns + 1)) /
                       (1 - solver.eigenvalues()(std::max<Eigen::Index>(n - columns - 7, 0)));
  const Eigen::MatrixXd exact = solver.eigenvectors().rightCols(columns - 1);
  const Eigen::MatrixXd rest = vectors.rightCols(columns - 1);
  EXPECT_LE((rest - exact * (exact.transpose() * rest)).operatorNorm(),
            std::min(1.0, 100 * ratio * ratio));
}

TEST(CoarsestLevel, SolvesGridsOfManySizes) {
  expect_solved(on_grid(16, 11), 24);
  expect_solved(on_grid(16, 16), 24);
  expect_solved(on_grid(17, 11), 17);
  expect_solved(on_grid(1, 131), 5);
  expect_solved(on_grid(41, 3), 24);
  expect_solved(on_grid(23, 19), 24);
}

TEST(CoarsestLevel, SolvesWhatHardlyHasMoreRowsThanColumns) {
  expect_solved(on_grid(5, 5), 24);
  expect_solved(on_grid(3, 2), 6);
  expect_solved(on_grid(2, 1), 2);
  EXPECT_FALSE(solve(on_grid(5, 5), 26));
}

TEST(CoarsestLevel, LeavesOutWhatHasNoData) {
  const auto some = [](int i) { return i % 7 != 3 && i > 20; };
  expect_solved(on_grid(17, 13, 17, 1, some), 12);
}

TEST(CoarsestLevel, FindsBands) {
  // Seven eigenvalues of I - A near 0 beside the trivial one, which are what is wanted.
  for (const double across : {1e-2, 1e-3, 1e-4}) {
    expect_solved(on_grid(32, 8, 4, across, [](int) { return true; }), 8);
  }
}

TEST(CoarsestLevel, FindsPiecesApart) {
  // More than one eigenvalue 1, whose vectors the inverse leaves alone.
  for (const int band : {4, 5, 8}) {
    expect_solved(on_grid(16, 11, band, 0, [](int) { return true; }), 24);
  }
}

TEST(CoarsestLevel, TakesNoInfinity) {
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    for (const std::size_t apart : {0, 1}) {  // On the diagonal, and on both sides of it.
      Problem problem = on_grid(12, 10);
      const auto entry = [&](std::size_t diagonal, std::size_t row) -> float& {
        return problem.matrix.values[diagonal * problem.matrix.shape.pitch + row];
      };
      entry(12 + apart, 60) = value;
      entry(12 - apart, 60 + apart) = value;
      EXPECT_FALSE(solve(problem, 10)) << value;
    }
  }
}

}  // namespace
}  // namespace diacut
