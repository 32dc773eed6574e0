#pragma once

#include <cstdint>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/lanczos/basis.hpp"
#include "matrix/operator.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// What a solver hands to eigenvectors(), which measures residuals, computes eigenvalues, orders
/// and signs the vectors.
struct KrylovResult {
  Buffer<float>
      basis;      ///< Orthonormal vectors `pitch` elements apart; vector 0 is the trivial one.
  int count = 0;  ///< Vectors that are eigenvectors, the trivial one included.
  bool converged = false;
  const char* solver = "";
  int restarts = 0;
  int filter_degree = 1;
};

/// Basis vectors that thick-restart Lanczos keeps for these parameters.
int lanczos_basis_size(const EigenParameters& parameters);

/// Thick-restart Lanczos (K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric
/// eigenvalue problems", 2000) on a Chebyshev polynomial of A, wholly on the device: basis in
/// float32, dot products in double (or compensated), full reorthogonalisation against the basis and
/// the trivial vector. The host sees the small projected matrix. `density` is about how many
/// entries a row of A has: with the number of rows it tells where the wanted eigenvalues lie.
/// Preconditions: `support` elements of sqrt_degree are positive, and more than twice the basis.
KrylovResult thick_restart_lanczos(Context& context, DeviceOperator& op,
                                   const Buffer<float>& sqrt_degree, std::size_t support,
                                   std::size_t pitch, double density,
                                   const EigenParameters& parameters, const Watch& watch);

}  // namespace diacut
