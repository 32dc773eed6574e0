#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/eigen/multilevel/dense_product.cl: products of dense symmetric matrices with blocks.
class DenseProduct {
 public:
  /// For the images of a batch that are active; null for one image. Blocks of at most `columns`
  /// columns.
  DenseProduct(Context& context, int columns,
               std::shared_ptr<const ActiveSegments> active = nullptr);

  /// out = M b, blocks `columns` wide. `matrices`: one for each image of the batch, `rows` by
  /// `rows`, which follow each other, as the images' segments do in the blocks. Enqueues.
  void launch(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
              Buffer<float>& out, int columns);

 private:
  DeviceInfo device_;
  std::shared_ptr<const ActiveSegments> active_;
  KernelFile kernels_;
};

/// kernels/eigen/multilevel/transfer.clh: prolongation and restriction of blocks of vectors between
/// a grid and the next coarser one, of every other row and column. The interpolation E is the
/// matrix of the finer grid, its rows scaled by the gains (Coarsen::gains()) and its columns
/// restricted to the kept pixels; of a stencil with strides, the matrix is that of its disc alone.
/// Blocks are `columns` wide, a multiple of block_vector().
class BlockTransfer {
 public:
  /// For matrices with that stencil in that form, and for the images of a batch that are active
  /// (one image where `active` is null). Asks for the prolongation of blocks of that width;
  /// other kernels are built at their first launch.
  BlockTransfer(Context& context, const Stencil& stencil, int columns,
                MatrixForm form = MatrixForm::kDia,
                std::shared_ptr<const ActiveSegments> active = nullptr);

  /// Asks for all kernels for blocks of that width, so that they are built together with others
  /// (opencl/context.hpp).
  void prepare(int columns);

  /// fine_block = E coarse_block, or with `add` fine_block += E coarse_block. Enqueues.
  void prolong(const NormalizedMatrix& fine, const Buffer<float>& gain,
               const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block, int columns);
  /// coarse_block = factor E' fine_block. Enqueues.
  void restrict_to(const NormalizedMatrix& fine, const Buffer<float>& gain,
                   const Buffer<float>& fine_block, float factor, Buffer<float>& coarse_block,
                   int columns);

 private:
  /// The kernels for blocks of `columns` columns, where `parts` work-items restrict to an element.
  const KernelFile& kernels(int columns, std::size_t parts);

  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  std::string matrix_options_;
  /// By program_columns() and `parts`, which is 1 on a CPU.
  std::map<std::pair<int, std::size_t>, KernelFile> kernels_;
};

}  // namespace diacut
