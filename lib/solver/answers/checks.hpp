#pragma once

#include <string_view>
#include <vector>

#include "answers/problems.hpp"
#include "answers/trial.hpp"
#include "diacut/graph.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/matvec.hpp"
#include "matrix/stencil.hpp"
#include "walker/random_walker.hpp"

/// @file
/// Known answers of the solver: `segment doctor` holds a device to them at a few sizes, the tests
/// at many awkward ones.
namespace diacut {

/// A known answer that a device is held to.
struct DeviceCheck {
  std::string_view name;  ///< What is computed, for a person.
  void (*run)(Trial&);    ///< Throws WrongAnswer, and what the computation throws.
};

std::vector<DeviceCheck> product_checks();
std::vector<DeviceCheck> solver_checks();
std::vector<DeviceCheck> walker_checks();

/// The product by its definition, in double.
TermSums expected_product(const HostDiaMatrix& matrix, const std::vector<float>& x);
/// The matrix with another main diagonal, which makes the roots an eigenvector to the eigenvalue 1;
/// 0 where a root is 0.
HostDiaMatrix with_eigenvector(HostDiaMatrix matrix, const Stencil& stencil,
                               const std::vector<float>& roots);

/// The operator's product with x, twice, and where `recurrence` is set steps of recurrences, which
/// are kernels of their own. All may be off by so many roundings.
void check_product(Trial& trial, DeviceOperator& op, const std::vector<float>& x,
                   const TermSums& expected, double roundings, bool recurrence = true);
/// The product with the Jacobian of so many contacts between so many bodies, in every layout. A row
/// adds 12 products whose factors are themselves sums of at most two products of products (the
/// second tangent, then the arm's cross product): fewer than 12 + 2 + 2 + 4 roundings on any path,
/// whichever layout rounds where; of the magnitude that reference_jacobian() gives.
void check_contacts(Trial& trial, std::size_t count, std::size_t bodies);
/// Eigenvectors of a small matrix whose eigenvalues are known, as many as `asked` says, by the
/// solver, the product and the form that it names, with neighbours of that stencil.
void check_known_eigenvectors(Trial& trial, const SolverParameters& asked, const Stencil& stencil);
/// The residual norm of vector k, divided by its norm, in double. Isolated nodes have no
/// entries.
double graph_residual(const Graph& graph, const GraphEigenvectors& found, std::size_t k);
/// Holds a random walk, with its probabilities, to a direct solution of its linear systems.
void expect_walk(Trial& trial, const RandomWalk& walk, const MatrixProblem& problem,
                 const std::vector<std::int32_t>& seeds, int labels);
/// Labels from seeds in a small image, by random walks with matrices of that form.
void check_walks(Trial& trial, MatrixForm form, int radius);

}  // namespace diacut
