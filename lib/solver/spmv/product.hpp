#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "matrix/matvec.hpp"
#include "opencl/context.hpp"
#include "spmv/formats.hpp"

namespace diacut {

enum class Format { kDia, kBdia, kEll, kSell, kCsr, kCoo, kBcsr, kBell, kSbell };
const char* to_string(Format format);
/// All formats, in the order of the enumeration.
const std::vector<Format>& all_formats();

/// One way to hold a matrix and multiply by it: a format and one of its kernels, which differ in
/// what one work-item computes:
///
///  - DIA: row (a row), run (512 rows); compiled and compiled-run are these two with offsets
///  compiled
///    in.
///  - BDIA: local and local4 (1 or 4 rows, with x in local memory), cached and cached4 (1 or 4
///  rows,
///    with x read through the cache).
///  - ELL, BELL: lanes1, lanes8 (1 or 8 block rows).
///  - SELL, SBELL: lanes1, lanes8 in slices of 32 block rows; sorted1, sorted8: after block rows
///  were
///    sorted by length in windows of 1024.
///  - CSR, BCSR: scalar (a block row), parts8 (a block row in 8 sums), vector4 to vector32 (4 to 32
///    work-items for a block row); for CSR also stream (groups balanced by non-zeros).
///  - COO: group (7 entries), run (as many entries as half of the local memory holds, with one
///    work-item in a group).
struct Implementation {
  Format format = Format::kCsr;
  std::string kernel = "scalar";
  BlockSize block = {};  ///< The blocks of BCSR, BELL and SBELL.

  bool operator==(const Implementation&) const = default;
};
/// "bcsr-4x4/vector8".
std::string to_string(const Implementation& implementation);
/// Throws ConfigError.
Implementation implementation_named(const std::string& name);

/// Every implementation there is, for tests.
std::vector<Implementation> all_implementations();
/// The implementations that make sense on a device: on GPUs with work-items for single rows, on
/// CPUs with runs and vectors; on a device with little local memory, without kernels that use it.
std::vector<Implementation> implementations(const DeviceInfo& device);

/// How make_product() makes a product.
struct ProductOptions {
  FormatLimits limits;
  /// Numbers in 16 bits, relative to a power of two: rounded by at most 2^-11 where they are more
  /// than 2^-29 of the largest.
  bool half = false;
  bool wide_positions = false;  ///< 64-bit positions even where 32 bits are enough, for tests.
};

/// A matrix on a device and the product with it. Copies share the matrix.
struct SparseProduct {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t matrix_bytes = 0;  ///< That a product reads of the stored matrix.
  /// Enqueues a step of a recurrence. `in` holds at least `cols` elements, `out` at least `rows`;
  /// they are different buffers. Recurrence::beta is 0 unless the matrix is square.
  std::function<void(const Buffer<float>& in, Buffer<float>& out, const Recurrence& step)> product;

  /// Bytes that a product reads and writes at least: the stored matrix, x and the result once each.
  std::size_t bytes() const { return matrix_bytes + sizeof(float) * (rows + cols); }
};

/// Converts the matrix and uploads it. Throws InputError when the format does not suit the matrix
/// (see check_fill()), DeviceError when the matrix does not fit the device, ConfigError for an
/// implementation that does not exist.
SparseProduct make_product(Context& context, const CsrMatrix& matrix,
                           const Implementation& implementation,
                           const ProductOptions& options = {});

/// A product with the entries on these diagonals (ascending) only, held as DIA or BDIA. Throws as
/// make_product() does.
SparseProduct make_diagonal_product(Context& context, const CsrMatrix& matrix,
                                    const std::vector<std::int64_t>& offsets,
                                    const Implementation& implementation,
                                    const ProductOptions& options = {});

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
