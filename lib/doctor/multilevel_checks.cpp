// Coarser grids: their matrices, the transfer of blocks between them, and what solves on them.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "doctor/checks.hpp"
#include "doctor/problems.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/conjugate_gradient.hpp"
#include "eigen/multilevel/cycle.hpp"
#include "matrix/block.hpp"
#include "opencl/copy_elements.hpp"

namespace diacut {

namespace {

Grid coarse_grid(const Grid& fine) {
  const int width = (fine.width + 1) / 2;
  return {width, (fine.height + 1) / 2, width};
}

/// The gains of the interpolation (kernels/eigen/multilevel/coarsen.cl).
std::vector<double> reference_gains(const BlockProblem& problem) {
  std::vector<double> gains(problem.rows(), 0.0);
  for (int y = 0; y < problem.grid.height; ++y) {
    for (int x = 0; x < problem.grid.width; ++x) {
      const std::size_t i = problem.element(x, y);
      double sum = 0;
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        const int nx = x + problem.stencil.entries[d].dx;
        const int ny = y + problem.stencil.entries[d].dy;
        if (!problem.contains(nx, ny) || nx % 2 != 0 || ny % 2 != 0) continue;
        sum += problem.entry(d, i) * problem.sqrt_degree[problem.element(nx, ny)];
      }
      gains[i] = problem.sqrt_degree[i] > 0 && sum > 0 ? problem.sqrt_degree[i] / sum : 0;
    }
  }
  return gains;
}

/// The terms of the entries of a kept pixel: its row times the interpolation. Of hops beyond the
/// disc, what leads between kept pixels is taken over, and the rest goes to the main diagonal.
class CoarseRow {
 public:
  CoarseRow(const MatrixProblem& problem, const Stencil& coarse, const std::vector<float>& gain,
            int x, int y)
      : problem_(problem), coarse_(coarse), gain_(gain), x_(x), y_(y), sums_(coarse.size(), 0.0) {}

  std::vector<double> sums() {
    for (std::size_t k = 0; k < problem_.stencil.size(); ++k) {
      const StencilOffset& hop = problem_.stencil.entries[k];
      const int mx = 2 * x_ + hop.dx;
      const int my = 2 * y_ + hop.dy;
      if (!problem_.contains(mx, my)) continue;
      const double weight = problem_.entry(k, problem_.element(2 * x_, 2 * y_));
      if (problem_.stencil.in_disc(hop)) {
        add_two_hops(weight, mx, my);
      } else if (mx % 2 == 0 && my % 2 == 0 &&
                 coarse_.index({hop.dx / 2, hop.dy / 2}) < coarse_.size()) {
        add(mx, my, weight);
      } else {
        const auto& s = problem_.sqrt_degree;
        add(2 * x_, 2 * y_,
            weight * s[problem_.element(mx, my)] / s[problem_.element(2 * x_, 2 * y_)]);
      }
    }
    return sums_;
  }

 private:
  void add(int x, int y, double term) {
    const std::size_t d = coarse_.index({x / 2 - x_, y / 2 - y_});
    if (d < coarse_.size()) sums_[d] += term;
  }
  void add_two_hops(double weight, int mx, int my) {
    const std::size_t middle = problem_.element(mx, my);
    for (std::size_t k = 0; k < problem_.stencil.size(); ++k) {
      const StencilOffset& hop = problem_.stencil.entries[k];
      const int nx = mx + hop.dx;
      const int ny = my + hop.dy;
      if (!problem_.stencil.in_disc(hop) || !problem_.contains(nx, ny)) continue;
      if (nx % 2 != 0 || ny % 2 != 0) continue;
      add(nx, ny, weight * gain_[middle] * problem_.entry(k, middle));
    }
  }

  const MatrixProblem& problem_;
  const Stencil& coarse_;
  const std::vector<float>& gain_;
  int x_;
  int y_;
  std::vector<double> sums_;
};

std::vector<double> reference_coarse_matrix(const MatrixProblem& problem, const Stencil& stencil,
                                            const std::vector<float>& gains,
                                            const DiaShape& shape) {
  const Grid coarse = coarse_grid(problem.grid);
  std::vector<double> expected(shape.stored(), 0.0);
  for (int y = 0; y < coarse.height; ++y) {
    for (int x = 0; x < coarse.width; ++x) {
      const std::vector<double> row = CoarseRow(problem, stencil, gains, x, y).sums();
      for (std::size_t d = 0; d < row.size(); ++d) {
        expected[d * shape.pitch + at_size(y * coarse.width + x)] = row[d];
      }
    }
  }
  return expected;
}

}  // namespace

void check_coarse_matrix(Trial& trial, const BlockProblem& problem) {
  Coarsen coarsen(trial.context(), problem.stencil, 1);
  const NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  const Grid coarse = coarse_grid(problem.grid);
  Guarded<float> gain(trial.context(), problem.rows());
  Guarded<float> kept(trial.context(), coarse.rows());
  coarsen.gains(matrix, *gain, *kept, 0);
  const std::vector<float> gains = gain.values();
  const std::vector<double> expected_gains = reference_gains(problem);
  const double terms = static_cast<double>(problem.stencil.size());
  // One rounding a term, positive all, and a division.
  trial.expect("gain", gains, expected_gains, expected_gains, terms + 2);
  std::vector<float> degrees;
  for (int y = 0; y < problem.grid.height; y += 2) {
    for (int x = 0; x < problem.grid.width; x += 2) {
      degrees.push_back(problem.sqrt_degree[problem.element(x, y)]);
    }
  }
  trial.expect_same("degree of a kept pixel", kept.values(), degrees);
  Trial::require(coarsen.orphans().download() == std::vector<std::int32_t>{0},
                 "a pixel has no kept one near");
  const DiaShape shape = dia_shape(coarse, problem.stencil);
  Guarded<float> made(trial.context(), shape.stored());
  coarsen.matrix(matrix, *gain, *made, shape.pitch);
  const std::vector<double> expected =
      reference_coarse_matrix(problem, problem.stencil, gains, shape);
  trial.expect("coarse matrix", made.values(), expected, expected, terms + 3);
}

namespace {

/// Discs of several strides.
void strided_coarse_matrix(Trial& trial) {
  const EigenProblem problem(45, 38, 3, 0.1, {}, {1, 2, 3});
  const NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  Coarsen coarsen(trial.context(), problem.stencil, 1);
  const Grid grid = coarse_grid(problem.grid);
  Buffer<float> gain = trial.empty(problem.grid.rows());
  Buffer<float> kept = trial.empty(grid.rows());
  coarsen.gains(matrix, gain, kept, 0);
  const Stencil stencil = Coarsen::coarse_stencil(problem.stencil);
  const DiaShape shape = dia_shape(grid, stencil);
  Buffer<float> made = trial.empty(shape.stored());
  coarsen.matrix(matrix, gain, made, shape.pitch);
  const std::vector<double> expected =
      reference_coarse_matrix(problem, stencil, gain.download(), shape);
  // Positive terms: a rounding or three for each.
  trial.expect("coarse matrix of discs with strides", made.download(), expected, expected,
               3 + 2 * static_cast<double>(problem.stencil.size()));
}

void degrees_of_levels(Trial& trial) {
  constexpr int kLevels = 4;
  const Grid grid{67, 66, 70};
  std::vector<float> degrees(grid.rows(), 0.0F);
  const std::vector<float> drawn = trial.uniform(grid.rows());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (i % 70 < 67 && i % 3 != 0) degrees[i] = 1 + drawn[i];
  }
  const LevelDegrees found =
      level_degrees(trial.context(), Batch(grid), trial.uploaded(degrees), kLevels);
  const std::vector<float> scales = found.scales.download();
  const std::vector<std::uint32_t> counts = found.counts.download();
  for (int level = 0; level < kLevels; ++level) {
    double sum = 0;
    std::uint32_t count = 0;
    for (int y = 0; y < grid.height; y += 1 << level) {
      for (int x = 0; x < grid.width; x += 1 << level) {
        const double value = degrees[at_size(y * grid.stride + x)];
        sum += value * value;
        count += value > 0 ? 1 : 0;
      }
    }
    Trial::require(counts[at_size(level)] == count, "a level has another number of elements");
    const double scale = 1 / std::sqrt(sum);
    trial.expect_one("norm of the degrees", scales[at_size(level)], scale,
                     0.51 * Trial::kEps * scale);
  }
}

}  // namespace

void check_transfer(Trial& trial, const BlockProblem& problem, const NormalizedMatrix& matrix,
                    int columns) {
  const std::size_t wide = at_size(columns);
  BlockTransfer transfer(trial.context(), problem.stencil, std::max(columns, 24), matrix.form());
  std::vector<float> gain = trial.normal(problem.rows());
  for (std::size_t i = 0; i < gain.size(); ++i) {
    if (i % at_size(problem.stride()) >= at_size(problem.grid.width)) gain[i] = 0;
  }
  const Eigen::MatrixXd p = reference_interpolation(problem, gain);
  const std::size_t coarse_rows = coarse_grid(problem.grid).rows();
  const std::vector<float> coarse = trial.normal(coarse_rows * wide);
  const std::vector<float> fine = trial.normal(problem.rows() * wide);
  const Buffer<float> gains = trial.uploaded(gain);
  const Guarded<float> coarse_in(trial.context(), coarse);
  const Guarded<float> fine_in(trial.context(), fine);
  Guarded<float> prolonged(trial.context(), fine.size());
  Guarded<float> added(trial.context(), fine);
  Guarded<float> restricted(trial.context(), coarse.size());
  transfer.prolong(matrix, gains, *coarse_in, false, *prolonged, columns);
  transfer.prolong(matrix, gains, *coarse_in, true, *added, columns);
  transfer.restrict_to(matrix, gains, *fine_in, 0.5F, *restricted, columns);
  TermSums up(fine.size());
  TermSums down(coarse.size());
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    for (std::size_t j = 0; j < coarse_rows; ++j) {
      if (p(i, j) == 0) continue;
      for (std::size_t c = 0; c < wide; ++c) {
        up.add(i * wide + c, p(i, j) * coarse[j * wide + c]);
        down.add(j * wide + c, 0.5 * p(i, j) * fine[i * wide + c]);
      }
    }
  }
  const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
  trial.expect("prolongation", prolonged.values(), up, roundings);
  trial.expect("restriction", restricted.values(), down, roundings);
  for (std::size_t i = 0; i < fine.size(); ++i) up.add(i, fine[i]);
  trial.expect("prolongation that is added", added.values(), up, roundings);
}

namespace {

void transfer_of_blocks(Trial& trial) {
  const BlockProblem problem(31, 27, 4, 5, 43, {0});
  check_transfer(trial, problem, matrix_of(trial.context(), problem), 8);
}

void compressed_transfer_of_blocks(Trial& trial) {
  BlockProblem problem(31, 27, 4, 5, 44, {0});
  const CompressedProblem compressed(trial.context(), matrix_of(trial.context(), problem), problem);
  problem.matrix = compressed.rounded;
  check_transfer(trial, problem, compressed.matrix, 8);
}

/// A random symmetric matrix, row by row.
std::vector<float> symmetric(Trial& trial, std::size_t rows, float scale) {
  std::vector<float> matrix = trial.normal(rows * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix[i * rows + j] = matrix[j * rows + i] *= scale;
  }
  return matrix;
}

}  // namespace

void check_dense_product(Trial& trial, const BlockShape& shape) {
  const std::size_t rows = shape.rows;
  const std::size_t wide = at_size(shape.columns);
  const std::vector<float> matrix = symmetric(trial, rows, 1);
  const std::vector<float> b = trial.normal(rows * wide);
  Guarded<float> out(trial.context(), b.size());
  DenseProduct(trial.context(), shape.columns)
      .launch(*Guarded<float>(trial.context(), matrix), rows, *Guarded<float>(trial.context(), b),
              *out, shape.columns);
  TermSums expected(b.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      for (std::size_t c = 0; c < wide; ++c) {
        expected.add(i * wide + c, static_cast<double>(matrix[i * rows + j]) * b[j * wide + c]);
      }
    }
  }
  trial.expect("product with a dense matrix", out.values(), expected,
               static_cast<double>(rows) + 2);
}

namespace {

/// A V-cycle of two grids for one column, in double: smoothing, a dense solution on the coarser
/// grid, smoothing.
Eigen::VectorXd reference_cycle(const BlockProblem& problem, const Eigen::MatrixXd& p,
                                const Eigen::MatrixXd& inverse, const Eigen::VectorXd& b,
                                const std::array<float, 2>& smoother, double factor) {
  const auto rows = b.size();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(rows);
  const auto residual = [&] {
    const std::vector<double> product =
        reference_matvec(problem.matrix, {x.data(), x.data() + rows});
    return Eigen::VectorXd(b - x + Eigen::Map<const Eigen::VectorXd>(product.data(), rows));
  };
  const auto smooth = [&] {
    for (const float weight : smoother) x += weight * residual();
  };
  smooth();
  x += p * (inverse * (factor * (p.transpose() * residual())));
  smooth();
  return x;
}

void small_cycle(Trial& trial) {
  constexpr int kColumns = 8;
  constexpr std::array<float, 2> kSmoother = {0.7F, 0.4F};
  BlockProblem problem(14, 11, 0, 5, 45);
  if (!BlockCycle::fits(trial.context().info(), Batch(problem.grid), problem.stencil.radius)) {
    return;  // Such a device is never asked for it.
  }
  for (float& value : problem.matrix.values) value /= 80;
  std::vector<float> gain = trial.uniform(problem.rows());
  for (float& each : gain) each = 8 + 4 * each;
  const std::size_t coarse_rows = coarse_grid(problem.grid).rows();
  const std::vector<float> inverse =
      symmetric(trial, coarse_rows, 1 / (2 * std::sqrt(static_cast<float>(coarse_rows))));
  const std::vector<float> b = trial.normal(problem.rows() * kColumns);
  const NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  const Buffer<float> gains = trial.uploaded(gain);
  const Buffer<float> inverses = trial.uploaded(inverse);
  Buffer<float> x = trial.empty(b.size());
  BlockCycle(trial.context(), problem.stencil)
      .launch({matrix, gains, inverses, kSmoother, 1.5F}, trial.uploaded(b), x, kColumns);
  const auto rows = static_cast<Eigen::Index>(problem.rows());
  const auto coarse = static_cast<Eigen::Index>(coarse_rows);
  const Eigen::MatrixXd p = reference_interpolation(problem, gain);
  const Eigen::MatrixXd dense = Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(
                                    inverse.data(), coarse, coarse)
                                    .cast<double>();
  std::vector<double> expected(b.size());
  double largest = 0;
  for (int c = 0; c < kColumns; ++c) {
    const std::vector<double> column = column_of(b, kColumns, c);
    const Eigen::VectorXd found = reference_cycle(
        problem, p, dense, Eigen::Map<const Eigen::VectorXd>(column.data(), rows), kSmoother, 1.5);
    for (Eigen::Index i = 0; i < rows; ++i) {
      expected[static_cast<std::size_t>(i) * kColumns + at_size(c)] = found(i);
      largest = std::max(largest, std::abs(found(i)));
    }
  }
  // Sums of 81 terms, of 42 and of 81, one after the other, each no larger than the largest result
  // times the norm of what follows, which is about 1 for every step.
  trial.expect_near("V-cycle", x.download(), expected, 4 * 204 * Trial::kEps * largest);
}

/// 2 I - A, without a preconditioner.
class ShiftedSystem final : public SystemOperators {
 public:
  ShiftedSystem(Context& context, const NormalizedMatrix& matrix, int columns)
      : matrix_(matrix), columns_(columns), product_(context, matrix.stencil(), columns) {}
  void product(const Buffer<float>& v, Buffer<float>& out) override {
    product_.launch(matrix_, v, v, out, -1, 2, 0, columns_);
  }
  void precondition(const Buffer<float>& r, Buffer<float>& /*spare*/, Buffer<float>& out) override {
    copy_elements(r, 0, out, 0, r.size());
  }

 private:
  const NormalizedMatrix& matrix_;
  int columns_;
  BlockProduct product_;
};

void conjugate_gradients(Trial& trial) {
  constexpr int kColumns = 8;
  const EigenProblem problem(23, 17, 3);
  const NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  const std::size_t rows = problem.grid.rows();
  const std::vector<float> b = trial.normal(rows * kColumns);
  Buffer<float> right = trial.uploaded(b);
  Buffer<float> x = trial.empty(b.size());
  Workspace workspace(trial.context(), kColumns, rows);
  ShiftedSystem system(trial.context(), matrix, kColumns);
  const ConjugateGradientResult result =
      ConjugateGradient(workspace, rows).solve(system, right, x, {1e-6, 100, false}, {});
  Trial::require(result.converged, "conjugate gradients do not converge");
  // The solution's own residual: 2 x - A x is b again. The spectrum lies in [1, 3], so that an
  // error of 1e-6 in the norm of the matrix is at most 3 times as large here.
  const std::vector<float> found = x.download();
  for (int c = 0; c < kColumns; ++c) {
    const std::vector<double> column = column_of(found, kColumns, c);
    const std::vector<double> product = reference_matvec(problem.matrix, column);
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double given = b[i * kColumns + at_size(c)];
      error += std::pow(2 * column[i] - product[i] - given, 2);
      norm += given * given;
    }
    trial.expect_one("residual of a linear system", std::sqrt(error / norm), 0, 1e-5);
  }
}

}  // namespace

std::vector<DeviceCheck> multilevel_checks() {
  return {{"degrees of all levels", degrees_of_levels},
          {"gains and a coarse matrix",
           [](Trial& trial) {
             check_coarse_matrix(trial, {31, 37, 4, 5, 41});
           }},
          // So many elements that a GPU makes the matrix by lines of the stencil.
          {"a large coarse matrix",
           [](Trial& trial) {
             check_coarse_matrix(trial, {401, 271, 3, 3, 42});
           }},
          {"a coarse matrix of discs with strides", strided_coarse_matrix},
          {"blocks between grids", transfer_of_blocks},
          {"blocks between grids of a compressed matrix", compressed_transfer_of_blocks},
          {"products with a dense matrix",
           [](Trial& trial) {
             check_dense_product(trial, {24, 24, 130});
           }},
          {"a V-cycle of two grids", small_cycle},
          {"conjugate gradients", conjugate_gradients}};
}

}  // namespace diacut
