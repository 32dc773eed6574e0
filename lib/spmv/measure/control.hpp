#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/spmv/measure/control.cl: reads, writes and arithmetic that do nothing else, to measure
/// what a device gives. Work-items move elements of `floats` floats: 1, 2, 4, 8 or 16. Throws
/// DeviceError.
class Control {
 public:
  Control(Context& context, int floats);

  /// read() and write() take multiples of this many floats.
  std::size_t granularity() const;

  /// Enqueues reads of `count` floats, a multiple of granularity(). All of `in` must be positive;
  /// `out` holds one float, which is not written then.
  void read(const Buffer<float>& in, Buffer<float>& out, std::size_t count);
  /// Enqueues writes of `count` floats, a multiple of granularity().
  void write(Buffer<float>& out, std::size_t count);
  /// Enqueues arithmetic that fills the device. Returns the number of operations; a multiply-add
  /// counts as two.
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
