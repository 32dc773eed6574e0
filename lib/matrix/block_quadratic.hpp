#pragma once

#include <cstddef>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/matrix/block_quadratic.cl: the quadratic form of the normalized Laplacian, as terms that
/// are still to be summed over the elements.
class BlockQuadratic {
 public:
  /// For matrices with that stencil in that form, and blocks of `columns` columns.
  BlockQuadratic(Context& context, const Stencil& stencil, int columns, MatrixForm form);

  /// parts_i = sum over j > i of a_ij s_i s_j (y_i - y_j)^2 for each element i and each column of
  /// the block y, with s = matrix.sqrt_degree(). Enqueues.
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& y, Buffer<float>& parts);

 private:
  Context* context_;
  std::size_t sets_;
  std::size_t each_;  ///< Elements that a work-item takes.
  Kernel kernel_;
};

}  // namespace diacut
