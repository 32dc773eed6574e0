#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opencl/arguments.hpp"
#include "opencl/context.hpp"
#include "spmv/formats.hpp"
#include "spmv/product.hpp"

/// The product of each format with the kernel that Implementation::kernel names. Each throws
/// DeviceError, also where local memory does not hold what the kernel needs.
namespace diacut {

/// A matrix on the device and one of kernels/spmv/spmv_*.cl with it. `in` and `out` are different
/// buffers, and nothing beyond columns and rows is read or written. Throws DeviceError.
class KernelProduct : public SparseProduct {
 public:
  KernelProduct(Context& context, std::size_t rows, std::size_t cols)
      : SparseProduct(rows, cols), context_(&context) {}

  /// Uploads an array of the matrix, which stays as long as the product.
  template <class T>
  cl::Buffer hold(const std::vector<T>& values, const char* what) {
    auto buffer = std::make_shared<Buffer<T>>(*context_, values.size(), what);
    buffer->upload(values);
    matrix_bytes_ += buffer->bytes();
    held_.push_back(buffer);
    return buffer->cl();
  }

  /// Positions in an array, in 32 bits if all of them fit, else in 64 bits.
  struct Positions {
    cl::Buffer buffer;
    const char* type;  ///< The OpenCL type of an element.
  };
  /// `wide` forces 64 bits, for tests.
  Positions hold_positions(const std::vector<std::uint64_t>& positions, const char* what,
                           bool wide);

  /// What a product reads of the matrix, where that is not all that is held.
  void count_bytes(std::size_t bytes) { matrix_bytes_ = bytes; }

  /// The number of work-items, rounded up to whole groups of `group` (0: the driver chooses).
  struct Range {
    std::size_t items;
    std::size_t group;
  };
  /// The kernel and its first arguments; `in` and `out` follow them. `add`: as ProductOptions::add.
  template <class... Arguments>
  void set_kernel(const std::string& file, const std::string& options, bool add, const Range& range,
                  const Arguments&... arguments) {
    kernel_ = kernel(file, "spmv", add ? options + " -DACCUMULATE" : options);
    range_ = range;
    bound_ = sizeof...(arguments);
    set_arguments(kernel_, arguments...);
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override;

 protected:
  Context& context() { return *context_; }
  cl::Kernel kernel(const std::string& file, const std::string& name, const std::string& options);
  /// Sets an argument after `in` and `out`.
  void set_last(const Buffer<float>& buffer) { set_arguments_from(kernel_, bound_ + 2, buffer); }

 private:
  Context* context_;
  std::vector<std::shared_ptr<const void>> held_;
  Range range_{};
  cl::Kernel kernel_;
  cl_uint bound_ = 0;
};

/// The size of work-groups: `group`, or less where the device's largest power of two is less.
std::size_t spmv_group(const DeviceInfo& device, std::size_t group);

std::unique_ptr<SparseProduct> diagonal_product(Context& context, const DiagonalMatrix& matrix,
                                                const std::string& kernel,
                                                const ProductOptions& how);
std::unique_ptr<SparseProduct> band_product(Context& context, const DiagonalMatrix& matrix,
                                            const std::string& kernel, const ProductOptions& how);
std::unique_ptr<SparseProduct> sliced_product(Context& context, const SlicedMatrix& matrix,
                                              const std::string& kernel, const ProductOptions& how);
std::unique_ptr<SparseProduct> row_product(Context& context, const CsrMatrix& matrix,
                                           const BlockSize& block, const std::string& kernel,
                                           const ProductOptions& how);
std::unique_ptr<SparseProduct> stream_product(Context& context, const CsrMatrix& matrix,
                                              const ProductOptions& how);
std::unique_ptr<SparseProduct> entry_product(Context& context, const CsrMatrix& matrix,
                                             const std::string& kernel, const ProductOptions& how);

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
