#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/eigen/multilevel/coarsen.cl: the interpolation to an image's pixels from those of every
/// other row and column, and the matrix of those. `diagonals` are those of a disc in reading order.
class Coarsen {
 public:
  /// `levels`: how many grids gains() may be asked for.
  Coarsen(Context& context, std::span<const GridDiagonal> diagonals, std::size_t levels);

  /// Sets `gain`, layout.rows() elements, and `coarse_degree`, sqrt_degree of the kept ones.
  /// Enqueues.
  void gains(const GridMatrix& matrix, const Buffer<float>& sqrt_degree, Buffer<float>& gain,
             Buffer<float>& coarse_degree, int level);
  /// Of each level, not 0 if some element with data (sqrt_degree > 0) had no kept one near in any
  /// gains() so far.
  const Buffer<std::int32_t>& orphans() const { return orphans_; }

  /// The matrix of the kept pixels of one in DIA form, diagonals() * coarse_pitch elements, on a
  /// grid of half the width and height, rounded up, whose stride is its width. Enqueues.
  void matrix(const Buffer<float>& values, const GridLayout& layout, const Buffer<float>& gain,
              Buffer<float>& coarse, std::size_t coarse_pitch);

  std::size_t diagonals() const { return diagonals_.size(); }

 private:
  std::string options(MatrixForm form) const;
  cl::Kernel& gain_kernel(MatrixForm form);

  Context* context_;
  std::vector<GridDiagonal> diagonals_;
  std::size_t run_;
  Buffer<std::int32_t> orphans_;
  std::map<MatrixForm, cl::Kernel> gains_;  ///< Built when first asked for.
  cl::Kernel matrix_;
  cl::Kernel lines_;  ///< The same by lines of the disc, on a GPU.
};

}  // namespace diacut
