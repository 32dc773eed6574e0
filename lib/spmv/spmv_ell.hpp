#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix in slices of padded block rows, as kernels/spmv/spmv_ell.cl reads it. Refers to what
/// the caller holds.
struct SpmvEllMatrix {
  const Positions& starts;
  const Buffer<std::uint32_t>& columns;
  const Buffer<float>& values;
  const Buffer<std::uint32_t>& order;  ///< Empty: block rows stand in their own order.
  std::size_t height;                  ///< Block rows a slice.
  bool sliced;                         ///< False: one slice holds them all.
  std::size_t block_rows;              ///< With the padding of the last slice.
  std::size_t block_height;
  std::size_t block_width;
  std::size_t rows;
  std::size_t cols;
};

class SpmvEll final : public SpmvLauncher {
 public:
  /// `lanes`: block rows a work-item, a divisor of the slices' height.
  SpmvEll(Context& context, const SpmvEllMatrix& matrix, std::size_t lanes, SpmvStore store);
};

}  // namespace diacut
