#pragma once

#include <memory>
#include <span>

#include "opencl/launchers/block.hpp"

namespace diacut {

/// kernels/block_transfer.cl: blocks between an image's grid and that of every other row and
/// column. `matrix` is that of the finer one, `gain` its gains.
class BlockTransfer {
 public:
  BlockTransfer(Context& context, std::span<const GridDiagonal> diagonals, int columns,
                MatrixForm form = MatrixForm::kDia,
                std::shared_ptr<const ActiveSegments> active = nullptr);

  /// fine_block = P coarse_block, or with `add` fine_block += P coarse_block. Enqueues.
  void prolong(const GridMatrix& matrix, const Buffer<float>& gain,
               const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block);
  /// coarse_block = factor P' fine_block. Enqueues.
  void restrict_to(const GridMatrix& matrix, const Buffer<float>& gain,
                   const Buffer<float>& fine_block, float factor, Buffer<float>& coarse_block);

 private:
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  BlockRuns runs_;
  std::size_t fine_each_;  ///< Fine elements of an item on a GPU.
  cl::Kernel prolong_;
  cl::Kernel restrict_;
};

}  // namespace diacut
