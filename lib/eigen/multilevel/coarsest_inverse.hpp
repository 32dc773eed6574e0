#pragma once

#include <optional>
#include <span>
#include <vector>

#include "matrix/dia_matrix.hpp"

namespace diacut {

/// The inverse of I - A, rows by rows, where it is positive definite: on the coarsest level of a
/// matrix whose rows of seeded pixels were eliminated. It serves a preconditioner: pieces of the
/// image without any seed, on which I - A is singular, get some large multiple of their trivial
/// vector. `values` are A's as HostDiaMatrix holds them, but that nothing is read after the last
/// diagonal's shape.rows. Rows and columns whose `sqrt_degree` is not positive are zero in the
/// result. Nothing if an entry is not finite.
std::optional<std::vector<float>> definite_inverse(const DiaShape& shape, const float* values,
                                                   std::span<const float> sqrt_degree);

}  // namespace diacut
