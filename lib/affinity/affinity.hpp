#pragma once

#include <vector>

#include "boundary/boundary.hpp"
#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// The affinity matrix W of an image and its normalized form.
struct NormalizedAffinity {
  Grid grid;
  Stencil stencil;
  /// A = D^-1/2 W D^-1/2. Rows and columns of elements without data are zero.
  DiaMatrix matrix;
  /// D^1/2, matrix.shape.rows elements, 0 where there is no data. Its unit multiple is the
  /// eigenvector of A to eigenvalue 1 that is known beforehand.
  Buffer<float> sqrt_degree;
};

/// What affinity_matrix() and normalize() allocate, what they return included.
void budget_affinity(MemoryBudget& budget, const Grid& grid, const AffinityParameters& parameters);

/// W: for pixels i and j with data within the radius, a function (parameters.formula) of the
/// largest strength on the line between them, ends included; W_ii = 1; 0 elsewhere. Lines are
/// Bresenham's, drawn from the one that comes first in reading order, so W is symmetric to the bit.
DiaMatrix affinity_matrix(Context& context, const BoundaryMap& boundary,
                          const AffinityParameters& parameters);

/// Degrees D (row sums, in double where the device has it, else compensated), then A in place of
/// W. Takes the matrix over.
NormalizedAffinity normalize(Context& context, const BoundaryMap& boundary, DiaMatrix affinity,
                             const AffinityParameters& parameters);

/// affinity_matrix() on the host in double, written for reading: the elements of a DiaShape of this
/// grid and stencil. strength and valid: grid.rows() elements.
std::vector<double> reference_affinity(const Grid& grid, const std::vector<float>& strength,
                                       const std::vector<std::uint8_t>& valid,
                                       const AffinityParameters& parameters);

}  // namespace diacut
