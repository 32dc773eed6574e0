#pragma once

#include <span>

#include "opencl/launchers/block.hpp"

namespace diacut {

/// kernels/block_product.cl: products of a matrix with a block of vectors.
class BlockProduct {
 public:
  /// `columns` is a result of block_columns(). Builds the kernel.
  BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns);

  int columns() const { return columns_; }

  /// out = alpha (A x) + beta x + gamma other. Enqueues. `other` may be `out`, x may not; with
  /// gamma 0 it is not read. Blocks hold layout.rows() * columns() values or more.
  void launch(const Buffer<float>& values, const GridLayout& layout, const Buffer<float>& x,
              const Buffer<float>& other, Buffer<float>& out, float alpha, float beta, float gamma);
  /// out = A x.
  void launch(const Buffer<float>& values, const GridLayout& layout, const Buffer<float>& x,
              Buffer<float>& out) {
    launch(values, layout, x, x, out, 1, 0, 0);
  }

 private:
  Context* context_;
  int columns_;
  BlockRuns runs_;
  cl::Kernel kernel_;
};

}  // namespace diacut
