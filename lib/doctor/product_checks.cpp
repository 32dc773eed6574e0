// Products of a matrix with single vectors and with blocks of them, in every form, quadratic forms,
// and Rayleigh quotients of the columns of blocks.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "doctor/checks.hpp"
#include "doctor/problems.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "matrix/block.hpp"
#include "matrix/matvec.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut {

namespace {

/// Multiplies in both forms and holds each row to the bound of a sum in any order: one rounding a
/// term and three for the recurrence.
void check_product(Trial& trial, DeviceOperator& op, const std::vector<float>& x,
                   const TermSums& expected, double terms) {
  const std::vector<float> old = trial.normal(x.size());
  const Buffer<float> in = trial.uploaded(x);
  Buffer<float> out = trial.empty(x.size());
  op.perform_op(in, out);
  trial.expect("product", out.download(), expected, terms + 4);
  out.upload(old);
  op.perform_recurrence(in, out, 1.75F, -0.3F, -1.0F);
  TermSums wanted(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    wanted.values[i] = 1.75 * expected.values[i];
    wanted.magnitudes[i] = 1.75 * expected.magnitudes[i];
    wanted.add(i, -double{0.3F} * x[i]);
    wanted.add(i, -old[i]);
  }
  trial.expect("recurrence", out.download(), wanted, terms + 4);
}

template <class Matrix>
TermSums expected_of(const Matrix& matrix, const std::vector<float>& x) {
  TermSums expected(0);
  expected.values =
      reference_matvec(matrix, std::vector<double>(x.begin(), x.end()), &expected.magnitudes);
  return expected;
}

BlockProblem problem_of_rows_that_fill_no_group() { return {67, 31, 3, 5, 21}; }

void check_dia(Trial& trial, MatvecKind kind) {
  const BlockProblem problem = problem_of_rows_that_fill_no_group();
  const DiaMatrix matrix = upload(trial.context(), problem.matrix);
  const std::vector<float> x = trial.normal(problem.rows());
  DiaOperator op(trial.context(), matrix, kind);
  check_product(trial, op, x, expected_of(problem.matrix, x),
                static_cast<double>(problem.stencil.size()));
}

template <MatvecKind kKind>
void dia_product(Trial& trial) {
  check_dia(trial, kKind);
}

void image_product(Trial& trial) {
  const BlockProblem problem = problem_of_rows_that_fill_no_group();
  // A device without images is never asked for this product.
  if (matvec_image_size(trial.context().info(), problem.rows()).row_floats() <= 4) return;
  check_dia(trial, MatvecKind::kImage);
}

/// Both halves of a kernel's ways to divide an image: those of GPUs and those of CPUs.
void check_compressed(Trial& trial, MatvecStorage storage, bool tiles) {
  const BlockProblem problem = problem_of_rows_that_fill_no_group();
  const DiaMatrix matrix = upload(trial.context(), problem.matrix);
  const std::vector<float> x = trial.normal(problem.rows());
  // With roots of at most 1 all weights are in [0, 1], as compression wants them.
  std::vector<float> host_roots = trial.uniform(problem.rows());
  for (std::size_t i = 0; i < host_roots.size(); ++i) {
    const bool pixel = i % at_size(problem.stride()) < at_size(problem.grid.width);
    host_roots[i] = pixel ? 0.5F + host_roots[i] / 2 : 0.0F;
  }
  const Buffer<float> roots = trial.uploaded(host_roots);
  for (const bool scaled : {false, true}) {
    const SymmetricDia compressed =
        scaled ? compress(trial.context(), matrix, problem.grid, problem.stencil, storage, roots)
               : compress(trial.context(), matrix, problem.grid, problem.stencil, storage);
    const ReferenceSymmetric reference = reference_compress(
        problem.matrix, problem.grid, problem.stencil, storage, scaled ? &host_roots : nullptr);
    SymmetricOperator op(trial.context(), compressed);
    op.use_form(tiles ? MatvecSymmetricForm{true, 8, 2, 4, 1, 2, 2}
                      : MatvecSymmetricForm{false, 1, 1, 64, 3, 1, 4});
    // Three roundings more of a term for the scale, and its own for the main diagonal.
    check_product(trial, op, x, expected_of(reference, x),
                  static_cast<double>(problem.stencil.size()) * (scaled ? 2 : 1) + 8);
  }
}

template <bool kTiles>
void compressed_product(Trial& trial) {
  for (const MatvecStorage storage :
       {MatvecStorage::kFloat32, MatvecStorage::kHalf, MatvecStorage::kMinifloat}) {
    check_compressed(trial, storage, kTiles);
  }
}

/// sum over i < j of a_ij s_i s_j (z_i / s_i - z_j / s_j)^2, in double.
double reference_form(const BlockProblem& problem, const std::vector<float>& z) {
  double sum = 0;
  for (const cl_int2& each :
       upper_diagonals(problem.matrix.shape.offsets, problem.matrix.shape.rows)) {
    const auto offset = at_size(each.s[1]);
    for (std::size_t i = 0; i + offset < problem.rows(); ++i) {
      const double a = problem.matrix.values[at_size(each.s[0]) * problem.pitch() + i];
      if (a == 0) continue;
      const double s = problem.sqrt_degree[i];
      const double t = problem.sqrt_degree[i + offset];
      const double difference = z[i] / s - z[i + offset] / t;
      sum += a * s * t * difference * difference;
    }
  }
  return sum;
}

void quadratic_form_of_vectors(Trial& trial) {
  constexpr int kCount = 3;
  const BlockProblem problem = problem_of_rows_that_fill_no_group();
  const NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  const std::vector<float> z = trial.normal(kCount * problem.pitch());
  const Buffer<float> basis = trial.uploaded(z);
  const std::vector<double> found = quadratic_forms(trial.context(), matrix, basis, kCount);
  for (std::size_t k = 0; k < kCount; ++k) {
    const auto begin = z.begin() + static_cast<std::ptrdiff_t>(k * problem.pitch());
    const double expected =
        reference_form(problem, {begin, begin + static_cast<std::ptrdiff_t>(problem.rows())});
    // Positive terms; a difference's quotients are off by 2.5 units in the last place each, which
    // counts more where they are close; on the whole less than 20 roundings a term.
    trial.expect_one("quadratic form", found[k], expected,
                     (20 + static_cast<double>(problem.stencil.size())) * Trial::kEps * expected);
  }
}

}  // namespace

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
  TermSums expected(count);
  for (int c = 0; c < columns; ++c) {
    std::vector<double> sums;
    const std::vector<double> result = reference_matvec(host, column_of(x, columns, c), &sums);
    for (std::size_t i = 0; i < problem.rows(); ++i) {
      const std::size_t at = i * at_size(columns) + at_size(c);
      expected.values[at] = 0.5 * result[i];
      expected.magnitudes[at] = 0.5 * sums[i];
      expected.add(at, -2.0 * x[at]);
      expected.add(at, 3.0 * other[at]);
    }
  }
  trial.expect("product with a block", out.download(), expected,
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
  TermSums quotient(x.size());
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double s = problem.sqrt_degree[at / kColumns];
    if (s > 0) quotient.add(at, x[at] / s);
  }
  trial.expect("rows divided", y, quotient, 2.5);
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

std::vector<DeviceCheck> product_checks() {
  return {{"product with a vector, plain", dia_product<MatvecKind::kNaive>},
          {"product with a vector, aligned", dia_product<MatvecKind::kAligned>},
          {"product with a vector, in local memory", dia_product<MatvecKind::kLocal>},
          {"product with a vector, vectorized", dia_product<MatvecKind::kVectorized>},
          {"product with a vector, coarsened", dia_product<MatvecKind::kCoarsened>},
          {"product with a vector, by images", image_product},
          {"product with a vector, unrolled", dia_product<MatvecKind::kUnrolled>},
          {"product with a compressed matrix, by runs", compressed_product<false>},
          {"product with a compressed matrix, by tiles", compressed_product<true>},
          {"quadratic forms of vectors", quadratic_form_of_vectors},
          {"product with a block", block_product, true},
          {"product with a large block", large_block_product},
          {"product of a compressed matrix with a block", compressed_block_product},
          {"Rayleigh quotients of a block", rayleigh_quotients}};
}

}  // namespace diacut
