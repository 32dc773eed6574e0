#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix in slices of padded block rows, as kernels/spmv/spmv_ell*.cl read it. Refers to
/// buffers of the caller.
struct SpmvEllMatrix {
  const Positions& starts;
  const Buffer<std::uint32_t>& columns;
  const Buffer<float>& values;
  const Buffer<std::uint32_t>& order;  ///< Empty: block rows are not reordered.
  std::size_t height;                  ///< Block rows in a slice.
  bool sliced;                         ///< False: one slice holds all block rows.
  std::size_t block_rows;              ///< With the padding of the last slice.
  std::size_t block_height;
  std::size_t block_width;
  std::size_t rows;
  std::size_t cols;
};

class SpmvEll final : public SpmvLauncher {
 public:
  /// `lanes`: block rows that a work-item computes, a divisor of the slices' height.
  SpmvEll(Context& context, const SpmvEllMatrix& matrix, std::size_t lanes, SpmvStore store);
};

}  // namespace diacut
