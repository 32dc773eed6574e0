#pragma once

#include <vector>

#include "matrix/symmetric_dia.hpp"

namespace diacut {

/// The twin of compress() on the host, in double: S M S with M in DIA form, both halves, entries
/// rounded as the storage rounds them.
struct ReferenceSymmetric {
  DiaShape shape;
  std::vector<double> values;
  std::vector<double> scale;
};
/// `sqrt_degree` may be null.
ReferenceSymmetric reference_compress(const HostDiaMatrix& matrix, const Grid& grid,
                                      const Stencil& stencil, MatvecStorage storage,
                                      const std::vector<float>* sqrt_degree);
/// The twin of compress() with kRooted.
ReferenceSymmetric reference_compress_rooted(const HostDiaMatrix& matrix, const Grid& grid,
                                             const Stencil& stencil, MatvecStorage storage,
                                             const std::vector<float>& roots);
/// The product; `magnitude` as in that of a HostDiaMatrix.
std::vector<double> reference_matvec(const ReferenceSymmetric& matrix, const std::vector<double>& x,
                                     std::vector<double>* magnitude = nullptr);

}  // namespace diacut
