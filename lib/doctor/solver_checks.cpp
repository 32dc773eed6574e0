// The eigensolvers as a whole, against a dense solver in double.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "doctor/checks.hpp"
#include "doctor/eigen_problem.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

namespace {

constexpr int kVectors = 9;
constexpr double kTolerance = 1e-5;

Eigen::MatrixXd dense_matrix(const EigenProblem& problem) {
  const auto rows = problem.dense();
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd a(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      a(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  return a;
}

/// The largest eigenvalues of a symmetric matrix, descending.
std::vector<double> exact_values(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a, Eigen::EigenvaluesOnly);
  const Eigen::VectorXd& values = solver.eigenvalues();
  std::vector<double> largest(values.data() + values.size() - kVectors,
                              values.data() + values.size());
  std::reverse(largest.begin(), largest.end());
  return largest;
}

/// The eigenvalues of a normalized matrix are known within rounding from their Rayleigh quotients;
/// vectors are orthonormal, and their residuals, computed anew in double, are small.
void check_eigenvectors(Trial& trial, const Eigen::MatrixXd& a, const DeviceEigenvectors& found) {
  Trial::require(found.report.converged, "the eigenvectors do not converge");
  Trial::require(found.count == kVectors, "another number of eigenvectors is found");
  const std::vector<double> exact = exact_values(a);
  const std::vector<float> basis = found.basis.download();
  const auto rows = static_cast<Eigen::Index>(found.rows);
  Eigen::MatrixXd z(rows, kVectors);
  for (Eigen::Index k = 0; k < kVectors; ++k) {
    const auto first = static_cast<std::size_t>(k) * found.pitch;
    for (Eigen::Index i = 0; i < rows; ++i) z(i, k) = basis[first + static_cast<std::size_t>(i)];
  }
  const Eigen::MatrixXd dots = z.transpose() * z;
  for (Eigen::Index k = 0; k < kVectors; ++k) {
    const double lambda = found.values[static_cast<std::size_t>(k)];
    trial.expect_one("eigenvalue", lambda, 1 - exact[static_cast<std::size_t>(k)], 2e-6);
    trial.expect_one("residual norm", (a * z.col(k) - (1 - lambda) * z.col(k)).norm(), 0,
                     2 * kTolerance);
    for (Eigen::Index j = 0; j <= k; ++j) {
      trial.expect_one("dot product of eigenvectors", dots(j, k), j == k ? 1 : 0, kTolerance);
    }
  }
}

void check_solver(Trial& trial, SolverKind solver, MatvecChoice product = {},
                  MatrixForm form = MatrixForm::kDia) {
  EigenProblem problem(30, 23, 3);
  EigenParameters parameters;
  parameters.vectors = kVectors;
  parameters.tolerance = kTolerance;
  parameters.solver = solver;
  NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  const DeviceEigenvectors found = std::move(
      eigenvectors(trial.context(), matrix, {parameters, std::move(product), form}).front());
  if (form == MatrixForm::kCompressed) {
    const ReferenceSymmetric rounded = reference_compress_rooted(
        problem.matrix, problem.grid, problem.stencil, MatvecStorage::kHalf, problem.sqrt_degree);
    problem.matrix.values = {rounded.values.begin(), rounded.values.end()};
  }
  check_eigenvectors(trial, dense_matrix(problem), found);
}

void multilevel_solver(Trial& trial) { check_solver(trial, SolverKind::kMultilevel); }
void multilevel_solver_of_compressed_matrices(Trial& trial) {
  check_solver(trial, SolverKind::kMultilevel, {}, MatrixForm::kCompressed);
}
void lanczos_solver(Trial& trial) { check_solver(trial, SolverKind::kLanczos); }
void spectra_solver(Trial& trial) { check_solver(trial, SolverKind::kSpectra); }

}  // namespace

std::vector<DeviceCheck> solver_checks() {
  return {{"the multilevel eigensolver", multilevel_solver},
          {"the multilevel eigensolver on a compressed matrix",
           multilevel_solver_of_compressed_matrices},
          {"Lanczos' eigensolver", lanczos_solver},
          {"Spectra's eigensolver", spectra_solver}};
}

}  // namespace diacut
