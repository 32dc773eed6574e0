#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix by bands of diagonals, as kernels/spmv/spmv_bdia.cl reads it. Refers to what the caller
/// holds.
struct SpmvBdiaMatrix {
  const Buffer<float>& values;
  const Buffer<std::int64_t>& firsts;
  const Buffer<std::uint32_t>& widths;
  std::size_t bands;
  std::size_t widest;  ///< Diagonals of the widest band, at least 1.
  std::size_t pitch;   ///< A multiple of 4, at least rows rounded up to 4.
  std::size_t rows;
  std::size_t cols;
};

struct SpmvBdiaForm {
  std::size_t group = 128;  ///< Work-items a group, at most.
  std::size_t rows = 1;     ///< Rows a work-item: 1 or 4.
  bool local = true;        ///< `in` is cached in local memory.
};

/// Throws DeviceError too when local memory does not hold what a group needs of the widest band.
class SpmvBdia final : public SpmvLauncher {
 public:
  SpmvBdia(Context& context, const SpmvBdiaMatrix& matrix, const SpmvBdiaForm& form,
           SpmvStore store);
};

}  // namespace diacut
