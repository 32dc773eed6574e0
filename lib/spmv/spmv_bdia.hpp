#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix by bands of diagonals, as kernels/spmv/spmv_bdia_*.cl read it. Refers to buffers of the
/// caller.
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
  std::size_t group = 128;  ///< The most work-items in a group.
  std::size_t rows = 1;     ///< Rows that a work-item computes: 1 or 4.
  bool local = true;        ///< Whether `in` is copied to local memory.
};

/// Throws DeviceError too when local memory does not hold the part of `in` that a group needs for
/// the widest band.
class SpmvBdia final : public SpmvLauncher {
 public:
  SpmvBdia(Context& context, const SpmvBdiaMatrix& matrix, const SpmvBdiaForm& form,
           SpmvStore store);
};

}  // namespace diacut
