#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix as entries ordered by row, as kernels/spmv/spmv_coo.cl reads it. Refers to buffers of
/// the caller.
struct SpmvCooMatrix {
  const Buffer<std::uint32_t>& rows_of;
  const Buffer<std::uint32_t>& columns;
  const Buffer<float>& values;
  std::size_t rows;
};

struct SpmvCooForm {
  std::size_t group = 256;  ///< The most work-items in a group, a power of two.
  std::size_t share = 7;  ///< Entries of a work-item; odd, so that work-items use different banks.
};

/// Throws DeviceError too when local memory does not hold a group's entries.
class SpmvCoo final : public SpmvLauncher {
 public:
  SpmvCoo(Context& context, const SpmvCooMatrix& matrix, const SpmvCooForm& form, SpmvStore store);

  void product(const Buffer<float>& in, Buffer<float>& out) override;

 private:
  std::size_t rows_;
  std::size_t groups_;
  SpmvStore store_;
  Buffer<float> carries_;
  cl::Kernel carry_;
  cl::Kernel clear_;
};

}  // namespace diacut
