#pragma once

#include <cstddef>
#include <span>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/matrix/block_quadratic.cl: the quadratic form of the normalized Laplacian, element by
/// element.
class BlockQuadratic {
 public:
  /// For blocks of `columns` columns. `diagonals` are those of a disc in reading order.
  BlockQuadratic(Context& context, std::span<const GridDiagonal> diagonals, int columns,
                 MatrixForm form);

  /// parts_i = sum over j > i of a_ij s_i s_j (y_i - y_j)^2 for `rows` elements i, of each column.
  /// Enqueues.
  void launch(const GridMatrix& matrix, const Buffer<float>& s, const Buffer<float>& y,
              std::size_t rows, Buffer<float>& parts);

 private:
  Context* context_;
  std::size_t sets_;
  std::size_t each_;  ///< Elements of an item.
  cl::Kernel kernel_;
};

}  // namespace diacut
