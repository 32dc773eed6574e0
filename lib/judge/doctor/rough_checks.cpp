// The rough eigenvectors that contours are made from, by matrices that the host solves densely.
#include <Eigen/SparseCore>

#include "affinity/affinity.hpp"
#include "doctor/checks.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/multilevel/coarse_levels.hpp"

namespace diacut {

BoundaryProblem drawn_six_parts(Trial& trial, const Grid& grid) {
  const std::vector<float> drawn = trial.uniform(grid.rows());
  BoundaryProblem boundary(grid, drawn);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const bool line = x == grid.width / 3 || x == 2 * grid.width / 3 || y == grid.height / 2;
      const std::size_t i = boundary.element(x, y);
      boundary.strength[i] = line ? 0.9F : 0.3F * drawn[i];
    }
  }
  return boundary;
}

void check_rough_eigenvectors(Trial& trial, int radius, const SixParts& parts) {
  const Grid& grid = parts.grid;
  const BoundaryProblem boundary = drawn_six_parts(trial, grid);
  AffinityParameters parameters;
  parameters.radius = radius;
  Context& context = trial.context();
  KeptAffinity kept = kept_affinity(context, grid, boundary.on_device(context), parameters);
  SolverParameters solver;
  solver.solved = kept.matrix.rows();
  const DeviceEigenvectors found =
      std::move(eigenvectors(context, kept.matrix, solver, Watch()).front());
  Trial::require(found.count == solver.eigen.vectors, "another number of eigenvectors is found");
  const DeviceEigenvectors at_pixels = interpolated(context, kept.rows, 0, found);

  const Eigen::MatrixXd w = reference_kept_rows(boundary, parameters);
  const Eigen::VectorXd by_row = w.rowwise().sum().cwiseSqrt().cwiseInverse();
  const Eigen::VectorXd by_column = w.colwise().sum().cwiseSqrt().cwiseInverse();
  const Eigen::SparseMatrix<double> r =
      (by_row.asDiagonal() * w * by_column.asDiagonal()).sparseView();
  const Eigen::VectorXd exact =
      symmetric_eigenpairs(Eigen::SparseMatrix<double>(r.transpose() * r)).values.reverse();
  const std::vector<float> vectors = at_pixels.basis.download();
  for (int k = 1; k <= parts.held; ++k) {
    const double value = found.values[at_size(k)];
    Trial::require(at_pixels.values[at_size(k)] == value / CoarseLevels::kHops,
                   "an eigenvalue of all pixels is not that of the kept ones by their hops");
    Trial::require(value >= 1 - exact(k) - 2e-6, "a Ritz value lies below its eigenvalue");
    trial.expect_one("eigenvalue", value, 1 - exact(k), parts.off * (1 - exact(k)) + 1e-6);
    // A vector that is taken to the kept pixels and back is as long as the eigenvalue says.
    const Eigen::VectorXd z =
        Eigen::Map<const Eigen::VectorXf>(vectors.data() + at_size(k) * at_pixels.pitch, w.rows())
            .cast<double>();
    Trial::require(z.norm() > 0, "an eigenvector is 0");
    trial.expect_one("residual norm", (r * (r.transpose() * z) - (1 - value) * z).norm() / z.norm(),
                     0, parts.residual);
  }
}

void check_rough_eigenvectors(Trial& trial, int radius) {
  // One is solved densely, the other one by a filter.
  check_rough_eigenvectors(trial, radius, {{20, 20}, 5, 1e-3, 1e-3});
  check_rough_eigenvectors(trial, radius, {{35, 31}, 5, 0.05, 0.05});
}

}  // namespace diacut
