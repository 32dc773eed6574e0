#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "eigen/lanczos/lanczos.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut {

/// A small matrix on the elements whose sqrt_degree is positive, in double.
struct DenseProblem {
  std::vector<std::int64_t> element;  ///< Of each unknown.
  Eigen::VectorXd trivial;            ///< The trivial eigenvector, of norm 1.
  /// A - 3 trivial trivial': as the spectrum of A lies in [-1, 1], this moves the trivial vector
  /// below all others.
  Eigen::MatrixXd a;
};

DenseProblem dense_problem(const HostDiaMatrix& matrix, const std::vector<float>& sqrt_degree);

/// All of a small problem at once, on the host in double: every eigenvector of A on the elements
/// whose sqrt_degree is positive, the trivial one set apart. For matrices of at most
/// kDenseLimit such elements, whose spectra (tiny, flat or disconnected images) Krylov methods
/// handle worst.
KrylovResult dense_eigenvectors(Context& context, const DiaMatrix& matrix,
                                const std::vector<float>& sqrt_degree,
                                const EigenParameters& parameters);

inline constexpr std::size_t kDenseLimit = 400;

}  // namespace diacut
