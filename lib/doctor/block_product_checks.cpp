// Products of a matrix with blocks of vectors, and Rayleigh quotients of their columns.
#include <cmath>

#include "doctor/block_problem.hpp"
#include "doctor/checks.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "matrix/block_product.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut {

namespace {

/// out = 0.5 (A x) - 2 x + 3 other against plain loops.
void check_block(Trial& trial, const BlockProblem& problem, const HostDiaMatrix& host,
                 const NormalizedMatrix& matrix, int columns) {
  const std::size_t count = problem.rows() * at_size(columns);
  const std::vector<float> x = trial.normal(count);
  const std::vector<float> other = trial.normal(count);
  const Buffer<float> in = trial.uploaded(x);
  const Buffer<float> added = trial.uploaded(other);
  Buffer<float> out = trial.empty(count);
  BlockProduct product(trial.context(), problem.stencil, columns, matrix.form());
  product.launch(matrix, in, added, out, 0.5F, -2.0F, 3.0F, columns);
  std::vector<double> expected(count);
  std::vector<double> magnitude(count);
  for (int c = 0; c < columns; ++c) {
    std::vector<double> sums;
    const std::vector<double> result = reference_matvec(host, column_of(x, columns, c), &sums);
    for (std::size_t i = 0; i < problem.rows(); ++i) {
      const std::size_t at = i * at_size(columns) + at_size(c);
      expected[at] = 0.5 * result[i] - 2.0 * x[at] + 3.0 * other[at];
      magnitude[at] = 0.5 * sums[i] + 2.0 * std::abs(x[at]) + 3.0 * std::abs(other[at]);
    }
  }
  trial.expect("product with a block", out.download(), expected, magnitude,
               4.0 + static_cast<double>(problem.stencil.size()));
}

void block_product(Trial& trial) {
  const BlockProblem problem(31, 37, 4, 5, 31);
  check_block(trial, problem, problem.matrix, matrix_of(trial.context(), problem), 24);
}

/// So many elements that a work-item of a GPU takes several of them.
void large_block_product(Trial& trial) {
  const BlockProblem problem(257, 201, 0, 3, 32);
  check_block(trial, problem, problem.matrix, matrix_of(trial.context(), problem), 8);
}

void compressed_block_product(Trial& trial) {
  const BlockProblem problem(31, 37, 4, 5, 33, {0});
  const CompressedProblem compressed(trial.context(), matrix_of(trial.context(), problem), problem);
  check_block(trial, problem, compressed.rounded, compressed.matrix, 24);
}

void check_quotients(Trial& trial, const BlockProblem& problem, const HostDiaMatrix& host,
                     const NormalizedMatrix& matrix) {
  constexpr int kColumns = 16;
  const std::size_t rows = problem.rows();
  Workspace workspace(trial.context(), kColumns, rows);
  RayleighQuotients quotients(workspace, matrix);
  const std::vector<float> x = trial.normal(rows * kColumns);
  const Buffer<float> in = trial.uploaded(x);
  Buffer<float> y_out = trial.empty(x.size());
  Buffer<float> parts = trial.empty(x.size());
  const std::vector<double> found = quotients.compute(matrix, in, y_out, parts);
  const std::vector<float> y = y_out.download();
  std::vector<double> quotient(x.size());
  std::vector<double> magnitude(x.size());
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double s = problem.sqrt_degree[at / kColumns];
    quotient[at] = s > 0 ? x[at] / s : 0;
    magnitude[at] = std::abs(quotient[at]);
  }
  trial.expect("rows divided", y, quotient, magnitude, 2.5);
  std::vector<double> expected(kColumns, 0.0);
  const auto upper = upper_diagonals(problem.matrix.shape.offsets, rows);
  for (const cl_int2& each : upper) {
    const auto offset = at_size(each.s[1]);
    for (std::size_t i = 0; i + offset < rows; ++i) {
      const double weight =
          static_cast<double>(host.values[at_size(each.s[0]) * problem.pitch() + i]) *
          problem.sqrt_degree[i] * problem.sqrt_degree[i + offset];
      for (std::size_t c = 0; c < kColumns; ++c) {
        const double difference =
            static_cast<double>(y[i * kColumns + c]) - y[(i + offset) * kColumns + c];
        expected[c] += weight * difference * difference;
      }
    }
  }
  // Positive terms; of each a difference's rounding counts twice beside some of products.
  const double roundings = 8 + static_cast<double>(upper.size());
  for (std::size_t c = 0; c < kColumns; ++c) {
    trial.expect_one("Rayleigh quotient", found[c], expected[c],
                     roundings * Trial::kEps * expected[c]);
  }
}

void rayleigh_quotients(Trial& trial) {
  const BlockProblem problem(31, 37, 4, 5, 34);
  check_quotients(trial, problem, problem.matrix, matrix_of(trial.context(), problem));
  const CompressedProblem compressed(trial.context(), matrix_of(trial.context(), problem), problem);
  check_quotients(trial, problem, compressed.rounded, compressed.matrix);
}

}  // namespace

std::vector<DeviceCheck> block_product_checks() {
  return {{"product with a block", block_product, true},
          {"product with a large block", large_block_product},
          {"product of a compressed matrix with a block", compressed_block_product},
          {"Rayleigh quotients of a block", rayleigh_quotients}};
}

}  // namespace diacut
