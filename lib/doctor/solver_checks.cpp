// The eigensolvers as a whole, by matrices whose eigenvalues are known.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "doctor/checks.hpp"
#include "doctor/problems.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/lanczos/lanczos.hpp"

namespace diacut {

namespace {

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

/// A grid as small as solvers for large images take, and not as wide as high. The next coarser one
/// has more than three pixels for each vector.
CosineProblem problem_for(const EigenParameters& parameters, const Stencil& stencil) {
  constexpr int kHeight = 18;
  const int least = std::max(2 * lanczos_basis_size(parameters), 16 * parameters.vectors);
  const int width = std::max({24, least / kHeight + 2, 2 * stencil.radius + 2});
  return {width, std::max(kHeight, 2 * stencil.radius), stencil};
}

/// Solves a problem whose eigenvalues are known, and holds those that are found to them, give or
/// take `off`.
void check_cosines(Trial& trial, const CosineProblem& problem, const SolverParameters& parameters,
                   double off) {
  const Stencil& stencil = problem.stencil;
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
  expect_eigenvectors(trial, problem.matrix, found, problem.values, off,
                      parameters.eigen.tolerance);
}

/// So many elements that a work-item of a GPU takes several of them.
void eigenvectors_of_a_large_grid(Trial& trial) {
  SolverParameters parameters;
  parameters.eigen.tolerance = kStageTolerance;
  check_cosines(trial, {420, 300, disc_stencil(3)}, parameters, kTolerance);
}

/// Solved so exactly that Rayleigh quotients are off by rounding alone.
void check_solver(Trial& trial, SolverKind solver, MatrixForm form = MatrixForm::kDia) {
  SolverParameters parameters;
  parameters.form = form;
  parameters.eigen.solver = solver;
  parameters.eigen.vectors = 9;
  parameters.eigen.tolerance = kTolerance;
  check_cosines(trial, {30, 23, disc_stencil(3)}, parameters, 2e-6);
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
  // Orthonormal vectors with residuals R have values within the norm of R of as many eigenvalues
  // (B. Parlett, The Symmetric Eigenvalue Problem, 1980, theorem 11.5.1).
  check_cosines(trial, problem_for(parameters.eigen, stencil), parameters,
                kStageTolerance * std::sqrt(parameters.eigen.vectors));
}

std::vector<DeviceCheck> solver_checks() {
  return {
      {"eigenvectors of cosines",
       [](Trial& trial) { check_known_eigenvectors(trial, {}, disc_stencil(5)); }, true},
      {"eigenvectors of discs with strides",
       [](Trial& trial) {
         check_known_eigenvectors(trial, {}, strided_stencil(2, {1, 2, 3}));
       }},
      {"eigenvectors of a large grid", eigenvectors_of_a_large_grid},
      {"the multilevel eigensolver",
       [](Trial& trial) { check_solver(trial, SolverKind::kMultilevel); }},
      {"the multilevel eigensolver on a compressed matrix",
       [](Trial& trial) { check_solver(trial, SolverKind::kMultilevel, MatrixForm::kCompressed); }},
      {"Lanczos' eigensolver", [](Trial& trial) { check_solver(trial, SolverKind::kLanczos); }},
      {"Spectra's eigensolver", [](Trial& trial) { check_solver(trial, SolverKind::kSpectra); }}};
}

}  // namespace diacut
