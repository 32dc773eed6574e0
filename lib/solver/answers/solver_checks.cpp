// The eigensolvers as a whole, by matrices whose eigenvalues are known: of normalized cuts and of
// graphs.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "answers/checks.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/solvers.hpp"
#include "graph/steps.hpp"

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
  // Another solver takes over where it breaks down.
  Trial::require(solver_wanted(parameters.eigen.solver) != SolverKind::kMultilevel ||
                     stencil.disc_radius < 2 || found.report.solver == "multilevel",
                 "the multilevel eigensolver breaks down");
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

constexpr std::uint32_t kNodes = 2000;  ///< Of the cycle; the hub comes behind them.
constexpr float kSpoke = 1.0F / 64;
constexpr double kCycleDegree = 3 + kSpoke;  ///< Of nodes of the cycle.

/// A cycle of nodes, each of which is also tied to the one after the next, by half the weight, and
/// to a hub, whose row is a long one.
Graph wheel() {
  std::vector<MatrixEntry> entries;
  const auto tie = [&](std::uint32_t a, std::uint32_t b, double weight) {
    entries.push_back({a, b, weight});
    entries.push_back({b, a, weight});
  };
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    tie(i, (i + 1) % kNodes, 1);
    tie(i, (i + 2) % kNodes, 0.5);
    tie(i, kNodes, kSpoke);
  }
  return graph_of(kNodes + 1, std::move(entries));
}

/// The waves on the cycle add up to 0, and so leave the hub alone. With t = 2 pi wave / nodes their
/// eigenvalues of the normalized Laplacian are 1 - (2 cos t + cos 2t) / degree, each one twice.
void eigenvectors_of_a_wheel(Trial& trial) {
  GraphParameters parameters;
  parameters.vectors = 9;
  parameters.tolerance = 1e-5;
  const Graph graph = wheel();
  const auto least = 3 * static_cast<std::size_t>(graph_columns(parameters.vectors));
  const GraphEigenvectors found = graph_eigenvectors(
      trial.context(), graph_levels(graph, 300, least, {}), graph.nodes(), parameters, {});
  Trial::require(found.report.converged, "the eigenvectors do not converge");
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    const double t = 2 * std::numbers::pi * static_cast<double>((k + 1) / 2) / kNodes;
    const double wave = 1 - (2 * std::cos(t) + std::cos(2 * t)) / kCycleDegree;
    trial.expect_one("eigenvalue", found.values[k], k == 0 ? 0 : wave, 1e-6);
    trial.expect_one("residual norm", graph_residual(graph, found, k), 0, 2 * parameters.tolerance);
  }
}

/// (2 I - A) x = b, whose matrix has no eigenvalue below 1: x is as near as b - (2 I - A) x is
/// small.
void linear_system(Trial& trial) {
  CosineProblem problem(31, 23, disc_stencil(2));
  const std::size_t main_diagonal = problem.stencil.centre() * problem.pitch();
  for (float& value : problem.matrix.values) value = -value;
  std::vector<float> diagonal;
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    diagonal.push_back(problem.matrix.values[main_diagonal + i] += 2);
  }
  const std::vector<float> x = trial.normal(problem.rows());
  const std::vector<double> exact(x.begin(), x.end());
  const std::vector<double> product = reference_matvec(problem.matrix, exact);
  const std::vector<float> b(product.begin(), product.end());
  const DiaMatrix matrix = upload(trial.context(), problem.matrix);
  DiaOperator op(trial.context(), matrix, MatvecKind::kUnrolled);
  std::vector<float> found(x.size(), 0.0F);
  const SystemReport report =
      solve_system(trial.context(), op, diagonal, b, found, 0.1 * kTolerance, 100, {});
  Trial::require(report.converged, "the linear system is not solved");
  const double norm =
      Eigen::Map<const Eigen::VectorXd>(product.data(), static_cast<Eigen::Index>(product.size()))
          .norm();
  trial.expect_near("solution", found, exact, 0.2 * kTolerance * norm);
}

}  // namespace

double graph_residual(const Graph& graph, const GraphEigenvectors& found, std::size_t k) {
  std::vector<double> roots;
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    const auto row = graph.weights.begin();
    roots.push_back(
        std::sqrt(std::accumulate(row + static_cast<std::ptrdiff_t>(graph.starts[i]),
                                  row + static_cast<std::ptrdiff_t>(graph.starts[i + 1]), 0.0)));
  }
  const std::vector<float>& vector = found.vectors[k];
  double square = 0;
  double norm = 0;
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    double product = 0;
    for (std::uint64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) {
      const std::uint32_t j = graph.columns[e];
      product += graph.weights[e] / roots[i] / roots[j] * vector[j];
    }
    square += std::pow(product - (1 - found.values[k]) * vector[i], 2);
    norm += static_cast<double>(vector[i]) * vector[i];
  }
  return std::sqrt(square / norm);
}

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
       [](Trial& trial) { check_known_eigenvectors(trial, {}, disc_stencil(5)); }},
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
      {"Spectra's eigensolver", [](Trial& trial) { check_solver(trial, SolverKind::kSpectra); }},
      {"a linear system", linear_system},
      {"eigenvectors of a graph", eigenvectors_of_a_wheel}};
}

}  // namespace diacut
