// The eigenvectors that contours are made from, by matrices that the host solves densely.
#include <Eigen/Dense>

#include "affinity/kept_affinity.hpp"
#include "doctor/checks.hpp"
#include "eigen/decimation/contour_eigenvectors.hpp"

namespace diacut {

namespace {

/// W_iJ / sqrt(w_i) of every pixel i and kept pixel J (see Interpolation).
Eigen::MatrixXd dense_matrix(const Grid& grid, const PlaneGrid& cells, int radius,
                             const std::vector<double>& weights) {
  const KeptNeighbours neighbours(radius);
  Eigen::MatrixXd matrix =
      Eigen::MatrixXd::Zero(grid.width * grid.height, static_cast<Eigen::Index>(cells.pixels()));
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const auto parity = static_cast<std::size_t>(x % 2 + 2 * (y % 2));
      for (int k = neighbours.first[parity]; k < neighbours.first[parity + 1]; ++k) {
        const auto& [dx, dy] = neighbours.cells[static_cast<std::size_t>(k)];
        const int to_x = x / 2 + dx;
        const int to_y = y / 2 + dy;
        if (to_x < 0 || to_x >= cells.width || to_y < 0 || to_y >= cells.height) continue;
        matrix(y * grid.width + x, to_y * cells.width + to_x) =
            weights[static_cast<std::size_t>(k) * cells.pitch + cells.element(x / 2, y / 2)];
      }
    }
  }
  return matrix;
}

}  // namespace

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

void check_decimation(Trial& trial, int radius, const SixParts& parts) {
  const Grid& grid = parts.grid;
  const BoundaryProblem boundary = drawn_six_parts(trial, grid);
  const DeviceBoundary map = boundary.on_device(trial.context());
  AffinityParameters parameters;
  parameters.radius = radius;
  const KeptAffinity kept = kept_affinity(trial.context(), {&map, 1}, parameters);
  const ContourEigenvectors found =
      contour_eigenvectors(trial.context(), kept.interpolation, grid, Watch());
  const std::vector<double>& values = found.images.front().values;
  Trial::require(values.size() == kContourVectors, "another number of eigenvectors is found");

  const PlaneGrid& cells = kept.interpolation.cells;
  const Eigen::MatrixXd g = dense_matrix(
      grid, cells, radius,
      reference_kept_affinity(grid, boundary.strength, boundary.valid, parameters).weights);
  const Eigen::MatrixXd matrix = g.transpose() * g;
  const Eigen::VectorXd degrees = matrix.rowwise().sum();
  const Eigen::VectorXd root = degrees.cwiseSqrt().cwiseInverse();
  const Eigen::VectorXd expected =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(root.asDiagonal() * matrix * root.asDiagonal())
          .eigenvalues()
          .reverse();
  const Eigen::VectorXd pixels = g.rowwise().sum();  // sqrt(w_i)
  const std::vector<float> vectors = found.vectors.download();
  for (int k = 0; k < parts.held; ++k) {
    // Half of an eigenvalue of the kept pixels.
    const double value = 2 * values[static_cast<std::size_t>(k)];
    const double exact = 1 - expected(k + 1);
    Trial::require(value >= exact - 2e-6, "a Ritz value lies below its eigenvalue");
    trial.expect_one("eigenvalue", value, exact, parts.off * exact + 1e-6);
    // A vector that is taken to the kept pixels and back is as long as the eigenvalue says.
    const Eigen::VectorXd y =
        Eigen::Map<const Eigen::VectorXf>(
            vectors.data() + static_cast<std::size_t>(k) * found.pitch, pixels.size())
            .cast<double>();
    const Eigen::VectorXd at_kept =
        degrees.cwiseInverse().asDiagonal() * (g.transpose() * pixels.cwiseProduct(y));
    const Eigen::VectorXd back = (g * at_kept).cwiseQuotient(pixels);
    Trial::require(y.norm() > 0, "an eigenvector is 0");
    trial.expect_one("residual norm", (back - (1 - value) * y).norm() / y.norm(), 0,
                     parts.residual);
  }
}

void check_decimation(Trial& trial, int radius) {
  // One is solved densely, the other one by a filter.
  check_decimation(trial, radius, {{20, 20}, 5, 1e-3, 1e-3});
  check_decimation(trial, radius, {{29, 23}, 5, 0.05, 0.05});
}

}  // namespace diacut
