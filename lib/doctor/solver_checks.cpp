// The eigensolvers as a whole, against a dense solver in double.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "doctor/checks.hpp"
#include "doctor/cosine_problem.hpp"
#include "doctor/eigen_problem.hpp"
#include "doctor/stage_checks.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/lanczos/lanczos.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

namespace {

constexpr int kSolverChecksVectors = 9;
constexpr double kTolerance = 1e-5;
/// That of runs by default.
constexpr double kStageTolerance = 1e-4;

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
  std::vector<double> largest(values.data() + values.size() - kSolverChecksVectors,
                              values.data() + values.size());
  std::reverse(largest.begin(), largest.end());
  return largest;
}

/// The eigenvalues of a normalized matrix are known within rounding from their Rayleigh quotients;
/// vectors are orthonormal, and their residuals, computed anew in double, are small.
void check_eigenvectors(Trial& trial, const Eigen::MatrixXd& a, const DeviceEigenvectors& found) {
  Trial::require(found.report.converged, "the eigenvectors do not converge");
  Trial::require(found.count == kSolverChecksVectors, "another number of eigenvectors is found");
  const std::vector<double> exact = exact_values(a);
  const std::vector<float> basis = found.basis.download();
  const auto rows = static_cast<Eigen::Index>(found.rows);
  Eigen::MatrixXd z(rows, kSolverChecksVectors);
  for (Eigen::Index k = 0; k < kSolverChecksVectors; ++k) {
    const auto first = static_cast<std::size_t>(k) * found.pitch;
    for (Eigen::Index i = 0; i < rows; ++i) z(i, k) = basis[first + static_cast<std::size_t>(i)];
  }
  const Eigen::MatrixXd dots = z.transpose() * z;
  for (Eigen::Index k = 0; k < kSolverChecksVectors; ++k) {
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
  parameters.vectors = kSolverChecksVectors;
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

/// A grid as small as solvers for large images take, and not as wide as high. The next coarser one
/// has more than three pixels for each vector.
CosineProblem problem_for(const EigenParameters& parameters, const Stencil& stencil) {
  constexpr int kHeight = 18;
  const int least = std::max(2 * lanczos_basis_size(parameters), 16 * parameters.vectors);
  const int width = std::max({24, least / kHeight + 2, 2 * stencil.radius + 2});
  return {width, std::max(kHeight, 2 * stencil.radius), stencil};
}

}  // namespace

void check_known_eigenvectors(Trial& trial, const SolverParameters& asked, const Stencil& stencil) {
  SolverParameters parameters = asked;
  parameters.eigen.tolerance = kStageTolerance;
  parameters.eigen.relative_tolerance = 0;
  // Programs of solvers with single vectors are the same for any number of them.
  constexpr int kFew = 5;
  if (solver_wanted(asked.eigen.solver) != SolverKind::kMultilevel) {
    parameters.eigen.vectors = std::min(asked.eigen.vectors, kFew);
  }
  const CosineProblem problem = problem_for(parameters.eigen, stencil);
  NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  const DeviceEigenvectors found =
      std::move(eigenvectors(trial.context(), matrix, parameters).front());
  Trial::require(found.report.converged, "the eigenvectors do not converge");
  // Another solver takes over where its numbers do not settle.
  Trial::require(solver_wanted(parameters.eigen.solver) != SolverKind::kMultilevel ||
                     stencil.disc_radius < 2 || found.report.solver == "multilevel",
                 "the multilevel eigensolver does not settle");
  Trial::require(found.count == parameters.eigen.vectors,
                 "another number of eigenvectors is found");
  const std::vector<float> basis = found.basis.download();
  std::vector<std::vector<double>> vectors;
  for (std::size_t k = 0; k < static_cast<std::size_t>(found.count); ++k) {
    const auto first = basis.begin() + static_cast<std::ptrdiff_t>(k * found.pitch);
    vectors.emplace_back(first, first + static_cast<std::ptrdiff_t>(found.rows));
    const std::vector<double>& vector = vectors.back();
    // Orthonormal vectors with residuals R have values within the norm of R of as many eigenvalues
    // (B. Parlett, The Symmetric Eigenvalue Problem, 1980, theorem 11.5.1).
    trial.expect_one("eigenvalue", found.values[k], problem.values[k],
                     kStageTolerance * std::sqrt(found.count));
    const std::vector<double> product = reference_matvec(problem.matrix, vector);
    double square = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) {
      square += std::pow(product[i] - (1 - found.values[k]) * vector[i], 2);
    }
    trial.expect_one("residual norm", std::sqrt(square), 0, 2 * kStageTolerance);
    for (std::size_t j = 0; j <= k; ++j) {
      const double dot = std::inner_product(vector.begin(), vector.end(), vectors[j].begin(), 0.0);
      trial.expect_one("dot product of eigenvectors", dot, j == k ? 1 : 0, kTolerance);
    }
  }
}

namespace {

void eigenvectors_of_cosines(Trial& trial) { check_known_eigenvectors(trial, {}, disc_stencil(5)); }

void multilevel_solver(Trial& trial) { check_solver(trial, SolverKind::kMultilevel); }
void multilevel_solver_of_compressed_matrices(Trial& trial) {
  check_solver(trial, SolverKind::kMultilevel, {}, MatrixForm::kCompressed);
}
void lanczos_solver(Trial& trial) { check_solver(trial, SolverKind::kLanczos); }
void spectra_solver(Trial& trial) { check_solver(trial, SolverKind::kSpectra); }

}  // namespace

std::vector<DeviceCheck> solver_checks() {
  return {{"eigenvectors of cosines", eigenvectors_of_cosines, true},
          {"the multilevel eigensolver", multilevel_solver},
          {"the multilevel eigensolver on a compressed matrix",
           multilevel_solver_of_compressed_matrices},
          {"Lanczos' eigensolver", lanczos_solver},
          {"Spectra's eigensolver", spectra_solver}};
}

}  // namespace diacut
