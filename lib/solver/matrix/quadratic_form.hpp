#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/block.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// The diagonals above the main diagonal, as pairs (index, offset). `offsets` belong to all
/// diagonals of a matrix of `rows` rows; the middle one is the main diagonal.
std::vector<cl_int2> upper_diagonals(const std::vector<std::int64_t>& offsets, std::size_t rows);

/// The quadratic form of the normalized Laplacian (kernels/matrix/quadratic_form.cl) for each of
/// `count` vectors z, which lie matrix.shape().pitch elements apart in `basis`: the sum over i < j
/// of a_ij s_i s_j (z_i / s_i - z_j / s_j)^2 with s = matrix.sqrt_degree(). Waits. Precondition:
/// the matrix is in DIA form.
std::vector<double> quadratic_forms(Context& context, const NormalizedMatrix& matrix,
                                    const Buffer<float>& basis, int count);

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
  std::size_t sets_;
  std::size_t each_;  ///< Elements that a work-item takes.
  KernelFile kernels_;
};

}  // namespace diacut
