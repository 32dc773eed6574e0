#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// How kernels/spmv/spmv_stream.cl divides a matrix's rows among work-groups.
struct SpmvStreamForm {
  std::size_t group = 256;  ///< Work-items a group, a power of two.
  std::size_t tile = 2048;  ///< Entries that local memory holds.
};

/// As fits the device. Throws DeviceError when its local memory holds no group's worth.
SpmvStreamForm spmv_stream_form(const DeviceInfo& device);

/// First rows of the groups, then `rows`; `starts` are those of CSR.
std::vector<std::uint32_t> spmv_stream_bounds(const std::vector<std::uint64_t>& starts,
                                              const SpmvStreamForm& form);

/// A matrix by rows, as kernels/spmv/spmv_stream.cl reads it. Refers to what the caller holds.
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
