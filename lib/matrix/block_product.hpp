#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/matrix/block_product.cl: products of a matrix with a block of vectors.
class BlockProduct {
 public:
  /// `columns` is a result of block_columns(). Builds the kernel for blocks of that width; those
  /// for others, when first asked for.
  BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns,
               MatrixForm form = MatrixForm::kDia,
               std::shared_ptr<const ActiveSegments> active = nullptr);

  int columns() const { return columns_; }

  /// out = alpha (A x) + beta x + gamma other. Enqueues. `other` may be `out`, x may not; with
  /// gamma 0 it is not read. Blocks are `columns` wide, a multiple of block_vector(), and hold
  /// matrix.layout.rows() times as many values or more. `matrix` is of the form that the kernel was
  /// built for.
  void launch(const GridMatrix& matrix, const Buffer<float>& x, const Buffer<float>& other,
              Buffer<float>& out, float alpha, float beta, float gamma, int columns);
  /// out = A x, columns() wide.
  void launch(const GridMatrix& matrix, const Buffer<float>& x, Buffer<float>& out) {
    launch(matrix, x, x, out, 1, 0, 0, columns_);
  }

 private:
  Context* context_;
  int columns_;
  std::shared_ptr<const ActiveSegments> active_;
  MatrixForm form_;
  std::string matrix_options_;
  /// By how many elements an item takes, ascending; of a compressed matrix, and on a CPU, there is
  /// but one.
  using Kernels = std::vector<std::pair<std::size_t, cl::Kernel>>;
  Kernels& kernels_for(int columns);
  std::map<int, Kernels> kernels_;  ///< By program_columns().
};

}  // namespace diacut
