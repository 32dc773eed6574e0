#pragma once

#include <cstddef>
#include <string>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/spmv/measure/copy.cl for elements of one OpenCL type of floats.
class Copy {
 public:
  /// `floats` an element: 1, 2, 4, 8 or 16. Throws DeviceError.
  Copy(Context& context, int floats);

  /// Enqueues out[i] = in[i] for i < count floats. Precondition: `count` is a multiple of the
  /// element; both buffers hold it and are different.
  void operator()(const Buffer<float>& in, Buffer<float>& out, std::size_t count);

 private:
  Context* context_;
  std::size_t floats_;
  std::size_t group_;
  cl::Kernel kernel_;
};

}  // namespace diacut
