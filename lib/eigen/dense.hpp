#pragma once

#include "eigen/lanczos.hpp"
#include "sparse/dia_matrix.hpp"

namespace diacut {

/// All of a small problem at once, on the host in double: every eigenvector of A on the elements
/// whose sqrt_degree is positive, the trivial one set apart. For matrices of at most
/// kDenseLimit such elements, whose spectra (tiny, flat or disconnected images) Krylov methods
/// handle worst.
KrylovResult dense_eigenvectors(Context& context, const DiaMatrix& matrix,
                                const std::vector<float>& sqrt_degree,
                                const EigenParameters& parameters);

inline constexpr std::size_t kDenseLimit = 400;

}  // namespace diacut
