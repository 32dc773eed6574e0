#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/spmv/measure/control.cl for elements of `floats` floats, 1, 2, 4, 8 or 16. Throws
/// DeviceError.
class Control {
 public:
  Control(Context& context, int floats);

  /// Elements of memory are taken in multiples of this many floats.
  std::size_t granularity() const;

  /// Enqueues reading, or writing, `count` floats, a multiple of granularity(). What is read is
  /// positive; `out` holds a float and is not written.
  void read(const Buffer<float>& in, Buffer<float>& out, std::size_t count);
  void write(Buffer<float>& out, std::size_t count);
  /// Enqueues arithmetic that fills the device; returns its operations, a multiply-add being two.
  double flops(Buffer<float>& out);

 private:
  Context* context_;
  std::size_t floats_;
  std::size_t group_;
  cl::Kernel read_;
  cl::Kernel write_;
  cl::Kernel flops_;
};

}  // namespace diacut
