#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// Whether a product replaces the vector it is stored to or is added to it.
enum class SpmvStore { kReplace, kAdd };

/// Positions in an array, on the device, in 32 bits if all of them fit, else in 64 bits.
class Positions {
 public:
  Positions() = default;
  /// `wide` forces 64 bits, for tests.
  Positions(Context& context, const std::vector<std::uint64_t>& positions, const std::string& what,
            bool wide = false);
  const cl::Buffer& cl() const { return narrow_ ? narrow_.cl() : wide_.cl(); }
  /// The OpenCL type of an element.
  const char* type() const { return narrow_ ? "uint" : "ulong"; }
  std::size_t bytes() const { return narrow_ ? narrow_.bytes() : wide_.bytes(); }

 private:
  Buffer<std::uint32_t> narrow_;
  Buffer<std::uint64_t> wide_;
};

/// One of kernels/spmv/spmv_*.cl with a matrix bound to it. The matrix's buffers must outlive it.
/// `in` holds at least as many elements as the matrix has columns, `out` as it has rows; they are
/// different buffers, and nothing beyond columns and rows is read or written. Throws DeviceError.
class SpmvLauncher {
 public:
  virtual ~SpmvLauncher() = default;
  SpmvLauncher(const SpmvLauncher&) = delete;
  SpmvLauncher& operator=(const SpmvLauncher&) = delete;

  /// Enqueues out = A in, or out += A in.
  virtual void product(const Buffer<float>& in, Buffer<float>& out);

 protected:
  /// The number of work-items, rounded up to whole groups of `group` (0: the driver chooses).
  struct Range {
    std::size_t items;
    std::size_t group;
  };

  SpmvLauncher(Context& context, const std::string& file, const std::string& options,
               SpmvStore store, const Range& range);

  /// Sets the kernel's first arguments; `in` and `out` follow them.
  template <class... Arguments>
  void bind(const Arguments&... arguments) {
    with_device_errors("binding a matrix to its product",
                       [&] { (kernel_.setArg(bound_++, arguments), ...); });
  }
  cl::Kernel& kernel() { return kernel_; }
  cl_uint bound() const { return bound_; }
  Context& context() { return *context_; }

 private:
  Context* context_;
  Range range_;
  cl::Kernel kernel_;
  cl_uint bound_ = 0;
};

/// The size of work-groups: `group`, or less where the device's largest power of two is less.
std::size_t spmv_group(const DeviceInfo& device, std::size_t group);

}  // namespace diacut
