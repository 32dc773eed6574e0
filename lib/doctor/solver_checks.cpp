// The eigensolvers as a whole, against a dense solver in double.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "doctor/checks.hpp"
#include "doctor/problems.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/lanczos/lanczos.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

namespace {

constexpr int kSolverChecksVectors = 9;
constexpr double kTolerance = 1e-5;
/// That of runs by default.
constexpr double kStageTolerance = 1e-4;

/// Holds eigenvectors of a normalized matrix, the trivial one first, to eigenvalues of I - A that
/// are known within `off`: the vectors are orthonormal, and their residuals, computed anew in
/// double, are small.
void expect_eigenvectors(Trial& trial, const HostDiaMatrix& matrix, const DeviceEigenvectors& found,
                         std::span<const double> values, double off, double tolerance) {
  const std::vector<float> basis = found.basis.download();
  std::vector<std::vector<double>> vectors;
  for (std::size_t k = 0; k < static_cast<std::size_t>(found.count); ++k) {
    const auto first = basis.begin() + static_cast<std::ptrdiff_t>(k * found.pitch);
    vectors.emplace_back(first, first + static_cast<std::ptrdiff_t>(found.rows));
    const std::vector<double>& vector = vectors.back();
    trial.expect_one("eigenvalue", found.values[k], values[k], off);
    const std::vector<double> product = reference_matvec(matrix, vector);
    double square = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) {
      square += std::pow(product[i] - (1 - found.values[k]) * vector[i], 2);
    }
    trial.expect_one("residual norm", std::sqrt(square), 0, 2 * tolerance);
    for (std::size_t j = 0; j <= k; ++j) {
      trial.expect_one("dot product of eigenvectors", dot_product(vector, vectors[j]).first,
                       j == k ? 1 : 0, kTolerance);
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
  Trial::require(found.report.converged, "the eigenvectors do not converge");
  Trial::require(found.count == kSolverChecksVectors, "another number of eigenvectors is found");
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(problem.dense(),
                                                             Eigen::EigenvaluesOnly);
  const Eigen::VectorXd values = 1 - exact.eigenvalues().array().reverse();
  // Rayleigh quotients are off by rounding alone.
  expect_eigenvectors(trial, problem.matrix, found, {values.data(), values.data() + values.size()},
                      2e-6, kTolerance);
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
  // Orthonormal vectors with residuals R have values within the norm of R of as many eigenvalues
  // (B. Parlett, The Symmetric Eigenvalue Problem, 1980, theorem 11.5.1).
  expect_eigenvectors(trial, problem.matrix, found, problem.values,
                      kStageTolerance * std::sqrt(found.count), kStageTolerance);
}

std::vector<DeviceCheck> solver_checks() {
  return {
      {"eigenvectors of cosines",
       [](Trial& trial) { check_known_eigenvectors(trial, {}, disc_stencil(5)); }, true},
      {"the multilevel eigensolver",
       [](Trial& trial) { check_solver(trial, SolverKind::kMultilevel); }},
      {"the multilevel eigensolver on a compressed matrix",
       [](Trial& trial) {
         check_solver(trial, SolverKind::kMultilevel, {}, MatrixForm::kCompressed);
       }},
      {"Lanczos' eigensolver", [](Trial& trial) { check_solver(trial, SolverKind::kLanczos); }},
      {"Spectra's eigensolver", [](Trial& trial) { check_solver(trial, SolverKind::kSpectra); }}};
}

}  // namespace diacut
