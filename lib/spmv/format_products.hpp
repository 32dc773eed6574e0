#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spmv/diagonals.hpp"
#include "spmv/spmv.hpp"

/// The product of each format with the kernel that Implementation::kernel names. Each throws
/// DeviceError, also where local memory does not hold what the kernel needs.
namespace diacut {

std::unique_ptr<SparseProduct> diagonal_product(Context& context, const DiagonalMatrix& matrix,
                                                const std::string& kernel, SpmvStore store);
std::unique_ptr<SparseProduct> band_product(Context& context, const DiagonalMatrix& matrix,
                                            const std::string& kernel, SpmvStore store);
std::unique_ptr<SparseProduct> sliced_product(Context& context, const SlicedMatrix& matrix,
                                              const std::string& kernel, SpmvStore store,
                                              bool wide);
std::unique_ptr<SparseProduct> row_product(Context& context, const BlockView& matrix,
                                           const std::string& kernel, SpmvStore store, bool wide);
std::unique_ptr<SparseProduct> stream_product(Context& context, const CsrMatrix& matrix,
                                              SpmvStore store, bool wide);
std::unique_ptr<SparseProduct> entry_product(Context& context, const CsrMatrix& matrix,
                                             const std::string& kernel, SpmvStore store);

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

}  // namespace diacut
