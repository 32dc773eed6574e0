#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// How kernels/spmv/spmv_stream.cl divides a matrix's rows among work-groups.
struct SpmvStreamForm {
  std::size_t group = 256;  ///< Work-items in a group, a power of two.
  std::size_t tile = 2048;  ///< Products that local memory holds.
};

/// The largest form that fits the device. Throws DeviceError when local memory holds less than one
/// product for each work-item of a group.
SpmvStreamForm spmv_stream_form(const DeviceInfo& device);

/// The first row of each group, then the number of rows. `starts`: the starts of CSR.
std::vector<std::uint32_t> spmv_stream_bounds(const std::vector<std::uint64_t>& starts,
                                              const SpmvStreamForm& form);

/// A matrix by rows, as kernels/spmv/spmv_stream.cl reads it. Refers to buffers of the
/// caller.
struct SpmvStreamMatrix {
  const Buffer<std::uint32_t>& bounds;
  const Positions& starts;
  const Buffer<std::uint32_t>& columns;
  const Buffer<float>& values;
};

class SpmvStream final : public SpmvLauncher {
 public:
  SpmvStream(Context& context, const SpmvStreamMatrix& matrix, const SpmvStreamForm& form,
             SpmvStore store);
};

}  // namespace diacut
