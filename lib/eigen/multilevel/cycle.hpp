#pragma once

#include <array>
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
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  Kernel kernel_;
};

/// kernels/eigen/multilevel/transfer.clh: prolongation and restriction of blocks of vectors between
/// a grid and the next coarser one, of every other row and column. The interpolation E is the
/// matrix of the finer grid, its rows scaled by the gains (Coarsen::gains()) and its columns
/// restricted to the kept pixels; of a stencil with strides, the matrix is that of its disc alone.
/// Blocks are `columns` wide, a multiple of block_vector().
class BlockTransfer {
 public:
  /// For matrices with that stencil in that form, and for the images of a batch that are active
  /// (one image where `active` is null). Asks for the kernels for blocks of that width; the
  /// kernels for another width are built at its first launch.
  BlockTransfer(Context& context, const Stencil& stencil, int columns,
                MatrixForm form = MatrixForm::kDia,
                std::shared_ptr<const ActiveSegments> active = nullptr);

  /// Asks for the kernels for blocks of another width, so that they are built together with others
  /// (opencl/kernel.hpp).
  void prepare(int columns) { kernels_for(columns); }

  /// fine_block = E coarse_block, or with `add` fine_block += E coarse_block. Enqueues.
  void prolong(const NormalizedMatrix& fine, const Buffer<float>& gain,
               const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block, int columns);
  /// coarse_block = factor E' fine_block. Enqueues.
  void restrict_to(const NormalizedMatrix& fine, const Buffer<float>& gain,
                   const Buffer<float>& fine_block, float factor, Buffer<float>& coarse_block,
                   int columns);

 private:
  struct Kernels {
    Kernel prolong;
    Kernel restrict_to;
    Kernel restrict_parts;  ///< On a GPU: several work-items compute an element.
  };
  static Kernels make_kernels(Context& context, const std::string& matrix_options, int columns);
  Kernels& kernels_for(int columns);

  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  std::string matrix_options_;
  std::map<int, Kernels> kernels_;  ///< By program_columns().
};

/// kernels/eigen/multilevel/cycle.cl: a V-cycle of two grids, the coarse one solved densely, in one
/// launch: for images so small that a work-group holds one.
class BlockCycle {
 public:
  /// The most elements of an image.
  static constexpr std::size_t kMostRows = 1024;
  /// Steps of the smoother before and after the coarse grid.
  static constexpr int kSmoothing = 2;

  /// How work is dealt to work-groups. The result does not depend on `columns`.
  struct Groups {
    /// Columns of the block that a work-group takes: 1, 2 or 4. Each work-group reads the whole
    /// matrix, so more columns save reads of the matrix; but with 4, reads of local memory take
    /// longer than reads of the matrix.
    int columns = 2;
    /// The most work-items of a work-group: a power of two. The device may allow fewer.
    std::size_t items = kMostRows;
  };

  /// Whether each image of the batch is small enough for a work-group of the device, for a stencil
  /// of that radius. How many images there are does not matter.
  static bool fits(const DeviceInfo& device, const Batch& batch, int radius, const Groups& groups);
  static bool fits(const DeviceInfo& device, const Batch& batch, int radius) {
    return fits(device, batch, radius, Groups());
  }

  /// For matrices with that stencil, in DIA form, and for the images of a batch that are active
  /// (one image where `active` is null).
  BlockCycle(Context& context, const Stencil& stencil, const Groups& groups,
             std::shared_ptr<const ActiveSegments> active = nullptr);
  BlockCycle(Context& context, const Stencil& stencil,
             std::shared_ptr<const ActiveSegments> active = nullptr)
      : BlockCycle(context, stencil, Groups(), std::move(active)) {}

  /// What the V-cycle takes beside b.
  struct Cycle {
    const NormalizedMatrix& matrix;  ///< The matrix of the finer grid.
    const Buffer<float>& gain;       ///< The gains of the interpolation (Coarsen::gains()).
    const Buffer<float>& inverse;    ///< The coarse grid's inverses, as DenseProduct takes them.
    std::array<float, kSmoothing> smoother{};  ///< The smoother's steps.
    float restriction_factor = 1;              ///< The factor of the restriction.
  };
  /// x = about the inverse of I - A times b, for each active image. Elements of x that follow an
  /// image's last row become 0; elements of b there are not read. Blocks are `columns` wide, a
  /// multiple of 4. Enqueues. Precondition: fits().
  void launch(const Cycle& cycle, const Buffer<float>& b, Buffer<float>& x, int columns);

 private:
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  int columns_;
  std::size_t items_;
  int radius_;
  Kernel kernel_;
};

}  // namespace diacut
