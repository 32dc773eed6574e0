#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "opencl/context.hpp"
#include "spmv/blocks.hpp"
#include "spmv/csr.hpp"
#include "spmv/limits.hpp"

namespace diacut {

enum class Format { kDia, kBdia, kEll, kSell, kCsr, kCoo, kBcsr, kBell, kSbell };
const char* to_string(Format format);
/// All of them, in that order.
const std::vector<Format>& all_formats();

/// One way to hold a matrix and multiply by it: a format and one of its kernels,
///
///  - DIA: row, run (512 rows an item); compiled, compiled-run: the same with offsets compiled in.
///  - BDIA: local, local4 (x in local memory; 4 rows an item), cached, cached4 (x through the
///  cache).
///  - ELL, BELL: lanes1, lanes8 (block rows an item).
///  - SELL, SBELL: the same in slices of 32 block rows; sorted1, sorted8: rows sorted by length in
///    windows of 1024.
///  - CSR, BCSR: scalar, parts8 (8 sums an item), vector4 to vector32 (items a block row); of CSR
///    alone stream (balanced by non-zeros).
///  - COO: group, run (one item a group).
struct Implementation {
  Format format = Format::kCsr;
  std::string kernel = "scalar";
  BlockSize block = {};  ///< Of BCSR, BELL and SBELL.

  bool operator==(const Implementation&) const = default;
};
/// "bcsr-4x4/vector8".
std::string to_string(const Implementation& implementation);
/// Throws ConfigError.
Implementation implementation_named(const std::string& name);

/// Every implementation there is, for tests.
std::vector<Implementation> all_implementations();
/// Those that make sense on a device: on GPUs an item a row, on CPUs runs and vectors; without
/// local memory to speak of, none that uses it.
std::vector<Implementation> implementations(const DeviceInfo& device);

/// What make_product() may do to a matrix.
struct ProductOptions {
  FormatLimits limits;
  bool add = false;             ///< out += A in instead of out = A in.
  bool wide_positions = false;  ///< 64-bit positions even where 32 bits do, for tests.
};

/// A matrix on a device and the product with it.
class SparseProduct {
 public:
  virtual ~SparseProduct() = default;

  /// Enqueues out = A in. `in` holds at least cols() elements, `out` rows(); different buffers.
  virtual void product(const Buffer<float>& in, Buffer<float>& out) = 0;

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  /// What a product reads and writes at least: the matrix as stored, x and the result once.
  std::size_t bytes() const { return matrix_bytes_ + sizeof(float) * (rows_ + cols_); }
  std::size_t matrix_bytes() const { return matrix_bytes_; }

 protected:
  SparseProduct(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols) {}
  std::size_t matrix_bytes_ = 0;

 private:
  std::size_t rows_;
  std::size_t cols_;
};

/// Converts and uploads. Throws InputError when the format does not suit the matrix (see
/// check_fill), DeviceError when it does not fit the device, ConfigError for an implementation that
/// does not exist.
std::unique_ptr<SparseProduct> make_product(Context& context, const CsrMatrix& matrix,
                                            const Implementation& implementation,
                                            const ProductOptions& options = {});

/// Only the entries on these diagonals (ascending), as DIA or BDIA.
std::unique_ptr<SparseProduct> make_diagonal_product(Context& context, const CsrMatrix& matrix,
                                                     const std::vector<std::int64_t>& offsets,
                                                     const Implementation& implementation,
                                                     const ProductOptions& options = {});

}  // namespace diacut
