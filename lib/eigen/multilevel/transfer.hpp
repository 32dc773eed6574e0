#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/eigen/multilevel/transfer.cl: blocks between an image's grid and that of every other row
/// and column. `matrix` is that of the finer one, `gain` its gains. Blocks are `columns` wide, a
/// multiple of block_vector().
class BlockTransfer {
 public:
  /// Builds the kernels for blocks of that width; those for others, when first asked for.
  BlockTransfer(Context& context, std::span<const GridDiagonal> diagonals, int columns,
                MatrixForm form = MatrixForm::kDia,
                std::shared_ptr<const ActiveSegments> active = nullptr);

  /// fine_block = P coarse_block, or with `add` fine_block += P coarse_block. Enqueues.
  void prolong(const GridMatrix& matrix, const Buffer<float>& gain,
               const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block, int columns);
  /// coarse_block = factor P' fine_block. Enqueues.
  void restrict_to(const GridMatrix& matrix, const Buffer<float>& gain,
                   const Buffer<float>& fine_block, float factor, Buffer<float>& coarse_block,
                   int columns);

 private:
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  std::string matrix_options_;
  std::size_t fine_each_;  ///< Fine elements of an item on a GPU.
  struct Kernels {
    cl::Kernel prolong;
    cl::Kernel restrict_to;
  };
  Kernels& kernels_for(int columns);
  std::map<int, Kernels> kernels_;  ///< By program_columns().
};

}  // namespace diacut
