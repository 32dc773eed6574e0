#pragma once

#include <vector>

#include "eigen/lobpcg/column_sums.hpp"
#include "matrix/block_quadratic.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/rayleigh_quotients.cl with kernels/matrix/block_quadratic.cl: Rayleigh
/// quotients of unit vectors with the normalized Laplacian I - A, as sums of squares: 1 minus a
/// quotient with A would keep no digit of the least of them in float. The workspace has to outlive
/// the object.
class RayleighQuotients {
 public:
  /// For matrices with the stencil and the form of `matrix`.
  RayleighQuotients(Workspace& workspace, const NormalizedMatrix& matrix);

  /// Of each column x the sum over i < j of a_ij s_i s_j (y_i - y_j)^2, s = D^1/2 and y = x / s (0
  /// where s is 0), for each active image of the matrix's batch. `y` and `parts` are overwritten,
  /// blocks both; `parts` may be x. Waits.
  std::vector<double> compute(const NormalizedMatrix& matrix, const Buffer<float>& x,
                              Buffer<float>& y, Buffer<float>& parts);

 private:
  Workspace* workspace_;
  ColumnSums sums_;
  Kernel divide_;
  BlockQuadratic quadratic_;
};

}  // namespace diacut
