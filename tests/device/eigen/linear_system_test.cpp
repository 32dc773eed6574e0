// Eigenpairs and linear systems of matrices of one's own.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/sparse.hpp"
#include "refusal.hpp"
#include "shared_context.hpp"
#include "spmv/formats.hpp"

namespace diacut::testing {
namespace {

/// The Laplacian of a grid with values 0 around it, and `more` on the main diagonal.
CsrMatrix laplacian(int width, int height, int depth, double more = 0) {
  std::vector<MatrixEntry> entries;
  const int dimensions = (width > 1) + (height > 1) + (depth > 1);
  for (int z = 0; z < depth; ++z) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto row = static_cast<std::uint32_t>((z * height + y) * width + x);
        entries.push_back({row, row, 2.0 * dimensions + more});
        for (const auto& [at, size, step] :
             {std::tuple(x, width, 1), {y, height, width}, {z, depth, width * height}}) {
          if (at > 0) entries.push_back({row, row - step, -1.0});
          if (at + 1 < size) entries.push_back({row, row + step, -1.0});
        }
      }
    }
  }
  const auto rows = static_cast<std::size_t>(width * height * depth);
  return csr_from_entries(rows, rows, entries);
}

/// All eigenvalues of laplacian(), which are sums of those of lines.
std::vector<double> laplacian_values(int width, int height, int depth) {
  const auto line = [](int n, int k) {
    return n > 1 ? 2 - 2 * std::cos(std::numbers::pi * (k + 1) / (n + 1)) : 0.0;
  };
  std::vector<double> values;
  for (int x = 0; x < width; ++x) {
    for (int y = 0; y < height; ++y) {
      for (int z = 0; z < depth; ++z) {
        values.push_back(line(width, x) + line(height, y) + line(depth, z));
      }
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

/// Holds the pairs to the definition in double and to known eigenvalues, ascending. An eigenvalue
/// is off by at most its residual, which here is what was asked for in units of the norm.
void expect_pairs(const CsrMatrix& matrix, const Eigenpairs& found,
                  const std::vector<double>& expected, double allowed) {
  ASSERT_TRUE(found.converged);
  ASSERT_EQ(found.values.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(found.values[k], expected[k], allowed) << k;
    const std::vector<float>& z = found.vectors[k];
    const std::vector<double> product = reference_product(matrix, {z.begin(), z.end()});
    double norm = 0;
    double residual = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      norm += double{z[i]} * z[i];
      residual += std::pow(product[i] - found.values[k] * z[i], 2);
    }
    EXPECT_NEAR(norm, 1, 1e-5);
    EXPECT_LE(std::sqrt(residual), 1.1 * allowed) << k;
    EXPECT_LE(found.residuals[k], 1.1 * allowed);
    for (std::size_t other = 0; other < k; ++other) {
      double dot = 0;
      for (std::size_t i = 0; i < z.size(); ++i) dot += double{z[i]} * found.vectors[other][i];
      EXPECT_NEAR(dot, 0, 1e-4) << k << ", " << other;
    }
  }
}

TEST(Eigenpairs, OfStencilsOfTwoAndThreeDimensions) {
  struct Case {
    int width, height, depth;
  };
  for (const auto [width, height, depth] : {Case{70, 41, 1}, Case{17, 15, 13}, Case{18, 18, 1}}) {
    const CsrMatrix host = laplacian(width, height, depth);
    const SparseMatrix matrix(queue(), host, {.format = "csr/scalar"});
    const std::vector<double> all = laplacian_values(width, height, depth);
    const double allowed = 1e-5 * all.back();
    // The largest and the smallest have pairs of equal eigenvalues where sides are equal.
    expect_pairs(host, eigenpairs(matrix, {.which = Which::kLargest, .count = 6}),
                 {all.end() - 6, all.end()}, allowed);
    const Eigenpairs smallest = eigenpairs(matrix, {.which = Which::kSmallest, .count = 6});
    expect_pairs(host, smallest, {all.begin(), all.begin() + 6}, allowed);
    EXPECT_EQ(smallest.solver, host.rows < 500 ? "dense" : "lanczos");
    EXPECT_EQ(smallest.format, "csr/scalar");
    EXPECT_GT(smallest.products, 0);
  }
}

TEST(Eigenpairs, OfLargestMagnitudeComeFromBothEnds) {
  // Eigenvalues from -2 to 2 and of both signs.
  CsrMatrix host = laplacian(701, 1, 1, -2);
  const SparseMatrix matrix(queue(), host, {.format = "csr/scalar"});
  std::vector<double> all = laplacian_values(701, 1, 1);
  for (double& each : all) each -= 2;
  expect_pairs(host, eigenpairs(matrix, {.which = Which::kMagnitude, .count = 4}),
               {all[0], all[1], all[699], all[700]}, 2e-5);
}

TEST(Eigenpairs, OfADiagonalMatrixAndOfMultiplesOfTheIdentity) {
  const std::vector<float> values(1000, -3);
  const DiagonalMatrix matrix(queue(), 1000, {0}, values);
  const Eigenpairs found = eigenpairs(matrix, {.count = 3});
  ASSERT_TRUE(found.converged);
  for (const double value : found.values) EXPECT_NEAR(value, -3, 1e-5);
  const std::vector<float> zeros(1000, 0);
  const DiagonalMatrix none(queue(), 1000, {0}, zeros);
  for (const double value : eigenpairs(none, {.count = 3}).values) EXPECT_EQ(value, 0);
}

TEST(Eigenpairs, RefuseWhatHasNone) {
  const SparseMatrix wide(queue(), csr_from_entries(2, 3, {}));
  expect_refused([&] { eigenpairs(wide); }, "2 x 3");
  const SparseMatrix skew(queue(), csr_from_entries(3, 3, {{0, 1, 2.0}, {1, 0, 1.0}}));
  expect_refused([&] { eigenpairs(skew, {.count = 1}); },
                 "row 0, column 1 is 2, the opposite one 1");
  const SparseMatrix good(queue(), laplacian(9, 1, 1));
  expect_refused<ConfigError>([&] { eigenpairs(good, {.count = 10}); },
                              "10 eigenpairs, expected 1 to 9");
  EXPECT_THROW(eigenpairs(good, {.count = 0}), ConfigError);
  EXPECT_THROW(eigenpairs(good, {.count = 1, .tolerance = 0}), ConfigError);
  const DiagonalMatrix nan(queue(), 900, {0}, std::vector<float>(900, NAN));
  EXPECT_THROW(eigenpairs(nan), NumericalError);
}

TEST(LinearSystem, IsSolvedByConjugateGradients) {
  CsrMatrix host = laplacian(60, 50, 1, 0.01);
  // Rows of other scales, for which the preconditioner makes up: D A D.
  for (std::size_t row = 0; row < host.rows; ++row) {
    for (std::uint64_t e = host.starts[row]; e < host.starts[row + 1]; ++e) {
      host.values[e] *= std::ldexp(1.0F, static_cast<int>(row % 7)) *
                        std::ldexp(1.0F, static_cast<int>(host.columns[e] % 7));
    }
  }
  const SparseMatrix matrix(queue(), host, {.format = "csr/scalar"});
  std::vector<float> b(host.rows);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<float>(i));
  std::vector<float> x(host.rows, 0.0F);
  const SystemReport report = conjugate_gradients(matrix, b, x, 1e-4);
  EXPECT_TRUE(report.converged);
  EXPECT_GT(report.iterations, 10);
  EXPECT_LT(report.iterations, 300);
  const std::vector<double> product = reference_product(host, {x.begin(), x.end()});
  double residual = 0;
  double norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    residual += std::pow(product[i] - b[i], 2);
    norm += double{b[i]} * b[i];
  }
  // The residual that the iteration carries on drifts from the true one by rounding.
  EXPECT_LE(std::sqrt(residual / norm), 2e-4);
  // From the solution it takes no iteration.
  EXPECT_EQ(conjugate_gradients(matrix, b, x, 1e-3).iterations, 0);
}

TEST(LinearSystem, IsRefusedWhereItIsNotPositiveDefinite) {
  std::vector<float> x(3, 0.0F);
  const std::vector<float> b = {1, 2, 3};
  const SparseMatrix negative(queue(), csr_from_entries(3, 3, {{0, 0, 1.0}, {1, 1, -1.0}}));
  expect_refused([&] { conjugate_gradients(negative, b, x); }, "diagonal has -1 in row 1");
  const SparseMatrix saddle(
      queue(),
      csr_from_entries(3, 3, {{0, 0, 1.0}, {0, 1, 3.0}, {1, 0, 3.0}, {1, 1, 1.0}, {2, 2, 1.0}}));
  EXPECT_THROW(conjugate_gradients(saddle, std::vector<float>{1, -1, 0}, x), NumericalError);
  EXPECT_THROW(conjugate_gradients(saddle, std::span(b).first(2), x), InputError);
  EXPECT_THROW(conjugate_gradients(SparseMatrix(queue(), csr_from_entries(2, 3, {})), b, x),
               InputError);
}

}  // namespace
}  // namespace diacut::testing
