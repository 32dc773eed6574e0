#pragma once

#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A normalized affinity whose eigenvalues are known. Weights depend on the offset of two pixels
/// alone, fall with its length, and are the same for (dx, dy), (-dx, dy) and (dx, -dy). What would
/// reach beyond the grid is reflected at its sides. Such a matrix is diagonal in the basis of the
/// discrete cosine transform, and all degrees are the same (G. Strang, "The discrete cosine
/// transform", 1999). All entries are sums of multiples of a power of two that 16 bits hold, so
/// that compression does not round them. Of a stencil with several strides only the first disc has
/// weights.
struct CosineProblem {
  Grid grid;
  Stencil stencil;
  HostDiaMatrix matrix;
  std::vector<float> sqrt_degree;
  /// All eigenvalues of the normalized Laplacian I - A, ascending.
  std::vector<double> values;

  /// Precondition: the grid is no smaller than the stencil's disc.
  CosineProblem(int width, int height, const Stencil& neighbours);
};

/// A problem's matrix on a device, in DIA form.
NormalizedMatrix matrix_of(Context& context, const CosineProblem& problem);

}  // namespace diacut
