#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "opencl/launchers/block.hpp"

namespace diacut {

/// kernels/block_product.cl: products of a matrix with a block of vectors.
class BlockProduct {
 public:
  /// `columns` is a result of block_columns(). Builds the kernel.
  BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns,
               MatrixForm form = MatrixForm::kDia,
               std::shared_ptr<const ActiveSegments> active = nullptr);

  int columns() const { return columns_; }

  /// out = alpha (A x) + beta x + gamma other. Enqueues. `other` may be `out`, x may not; with
  /// gamma 0 it is not read. Blocks hold matrix.layout.rows() * columns() values or more.
  /// `matrix` is of the form that the kernel was built for.
  void launch(const GridMatrix& matrix, const Buffer<float>& x, const Buffer<float>& other,
              Buffer<float>& out, float alpha, float beta, float gamma);
  /// out = A x.
  void launch(const GridMatrix& matrix, const Buffer<float>& x, Buffer<float>& out) {
    launch(matrix, x, x, out, 1, 0, 0);
  }

 private:
  Context* context_;
  int columns_;
  std::shared_ptr<const ActiveSegments> active_;
  BlockRuns runs_;
  /// By how many elements an item takes, ascending; of a compressed matrix, and on a CPU, there is
  /// but one.
  std::vector<std::pair<std::size_t, cl::Kernel>> kernels_;
};

}  // namespace diacut
